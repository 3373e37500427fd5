"""How Moss is handed out: wheel, source, and a bundle for desktop clients."""
