"""How Spark writes lines of CSV so that texts come back as they were."""

#: Quotes within quotes are doubled; blanks at the ends of a text, which Spark would cut off, stay.
AS_WRITTEN = {"escape": '"', "ignoreLeadingWhiteSpace": "false", "ignoreTrailingWhiteSpace": "false"}
