"""Repositories of git that tests make for themselves."""

import subprocess


def git(folder, *arguments):
    """Call git in a folder as somebody whom no machine knows, and return what it prints."""
    who = ["-c", "user.name=test", "-c", "user.email=test@localhost"]
    done = subprocess.run(["git", *who, *arguments], cwd=folder, capture_output=True, text=True, check=True)
    return done.stdout.strip()
