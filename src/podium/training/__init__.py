"""How weights improve: sample workflows, judge them, make the better ones likelier."""
