"""Writes `frontend/scenario.schema.json`, which editors check scenarios with."""

from frontend.scenario.json_schema import PATH, text

if __name__ == "__main__":
    PATH.write_text(text(), encoding="utf-8")
