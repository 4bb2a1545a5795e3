"""What is known of the settings of these engines, which files of others are read and compared by."""
