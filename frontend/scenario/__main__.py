"""Write `frontend/scenario.schema.json`, which editors use to check scenarios."""

from frontend.scenario.json_schema import PATH, text

if __name__ == "__main__":
    PATH.write_text(text(), encoding="utf-8")
