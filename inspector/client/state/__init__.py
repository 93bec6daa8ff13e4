"""What a server offers and how its session stands: reductions of frames, live and recorded alike."""
