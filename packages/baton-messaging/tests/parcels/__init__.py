"""The parcels app hands in, weighs by way of another app, and ships: a message's whole way, with rows of its own."""
