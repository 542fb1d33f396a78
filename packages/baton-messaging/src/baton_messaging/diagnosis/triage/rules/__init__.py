"""Rules of triage, in the order of a message's way: each draws a conclusion on a delivery, or has nothing to say."""
