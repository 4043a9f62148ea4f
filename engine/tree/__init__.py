"""Analysis of the queue tree alone: its mistakes, which queues may preempt which, and which lend what to which."""
