"""The model of the main screen, without Textual: frozen state, and pure rules that are tested without a screen."""
