"""How a part of an object is changed: JSON patch, merge patch, strategic merge patch and server-side apply."""
