"""The tab of skills and its keys."""

from __future__ import annotations

from inspector.protocol.extensions import SKILLS
from inspector.tui.feature_verbs import FeatureContext, FeatureTab, Keys

_SKILLS = (
    ("verify", "verify all", "v", "Read every listed file of the skill, and compare it with the list."),
    ("save", "write files", "w", "Write the files that match to a new folder."),
    ("again", "read again", "r", "Read the list of skills again."),
)
_SKILL_LIST = (("filter", "filter", "slash", "Show only the skills that match."),)
_SKILL = (
    ("next-tab", "view", "right_curly_bracket", "Show SKILL.md as it is written, or as text."),
    ("previous-tab", "view", "left_curly_bracket", "Show SKILL.md as it is written, or as text."),
    ("next-failure", "next failure", "right_square_bracket", "Go to the next file that failed or is not listed."),
    ("leave", "list", "escape", "Go back to the list of skills."),
)
KEYS = Keys(
    contexts=(
        FeatureContext("skills", "list", "Skills", _SKILLS, after="collection"),
        FeatureContext("skill-list", "skills", "Skills", _SKILL_LIST, after="skills"),
        FeatureContext("skill", "skills", "Skills", _SKILL, after="skill-list"),
    ),
    tabs=(
        FeatureTab(
            "skills",
            "Skills",
            "Show the skills, if the server declares them.",
            state="pane:SkillsState",
            main="pane:SkillsPane",
            beside="skill_pane:SkillPane",
            key="0",
            extension=SKILLS,
            missing="The server does not declare skills.",
            is_alone=True,
        ),
    ),
)
