"""Questions to the queue tree alone: what is wrong with it, who may preempt whom, who lends what to whom."""
