// The first types of this room stand beside this file.
