"""Mail: what EMAIL_URL means (``url``), and the files that a mail is without one (``backend``)."""
