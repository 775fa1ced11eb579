collect_ignore = ["atheris_doors.py"]  # needs atheris; run by make fuzz
