"""What `privately demo` shows: a hospital's table asked in SQL, or how guarantees compose."""
