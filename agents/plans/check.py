"""Whether a plan can be run: its fields, and the agents that are there."""

from __future__ import annotations

from benchagent.catalog import DBMSS, WORKLOADS, FactorDef, FactorKind

from agents.machines import registry
from agents.machines.offers import approved_agents
from agents.models import AgentStatus
from agents.plans.plan import NAME_LIMIT, FactorValue, Plan, PlanError
from runs.models.choices import Visibility

MAX_RUNS = 500
MAX_REPEATS = 50
TEXT_LIMIT = 100_000


def check(plan: Plan) -> None:
    """Raises PlanError."""
    errors: dict[str, list[str]] = {}
    workload = WORKLOADS.get(plan.workload)
    if workload is None:
        errors["workload"] = [f"Unknown workload; known: {', '.join(WORKLOADS)}."]
    else:
        errors |= _factor_errors(plan)
    if not 1 <= plan.repeats <= MAX_REPEATS:
        errors["repeats"] = [f"Must be between 1 and {MAX_REPEATS}."]
    elif plan.run_count > MAX_RUNS:
        errors["repeats"] = [f"{plan.run_count} runs are more than the {MAX_RUNS} one experiment may have."]
    if problem := _engines_problem(plan):
        errors["engines"] = [problem]
    if plan.agent is not None and plan.agent.status != AgentStatus.APPROVED:
        errors["agent"] = [f"{plan.agent.name} is not approved."]
    if plan.visibility and plan.visibility not in Visibility.values:
        errors["visibility"] = [f"Must be one of {', '.join(Visibility.values)}."]
    if len(plan.name) > NAME_LIMIT:
        errors["name"] = [f"At most {NAME_LIMIT} characters."]
    if errors:
        raise PlanError(errors)


def _factor_errors(plan: Plan) -> dict[str, list[str]]:
    known = {factor.name: factor for factor in WORKLOADS[plan.workload].factors}
    given = plan.values()
    errors = {f"factors.{name}": [f"Unknown; known: {', '.join(known)}."] for name in given if name not in known}
    for name, factor in known.items():
        if name not in given:
            if not factor.optional:
                errors[f"factors.{name}"] = ["Required."]
            continue
        values = given[name]
        problems = [problem for value in values if (problem := _value_problem(plan, factor, value))]
        if len(set(values)) < len(values) or not values:
            problems.append("Name every value once.")
        if problems:
            errors[f"factors.{name}"] = problems
    return errors


def _value_problem(plan: Plan, factor: FactorDef, value: FactorValue) -> str:
    """Why a factor cannot have this value; empty when it can."""
    if factor.kind == FactorKind.NUMBER:
        if not isinstance(value, int) or not factor.minimum <= value <= factor.maximum:
            return f"{factor.label} must be between {factor.minimum} and {factor.maximum}."
    elif factor.kind == FactorKind.CHOICE and value not in factor.choices:
        return f"{factor.label} must be one of {', '.join(choice or '(empty)' for choice in factor.choices)}."
    elif len(str(value)) > TEXT_LIMIT:
        return f"{factor.label}: at most {TEXT_LIMIT:,} characters."
    elif factor.kind == FactorKind.PLACE:
        return _place_problem(plan, str(value))
    elif factor.engine_values and value != factor.default:
        return _lacking_problem(plan, factor, value)
    return ""


def _lacking_problem(plan: Plan, factor: FactorDef, value: FactorValue) -> str:
    for engine in plan.engines:
        values = factor.afar_values if engine.connection else factor.engine_values
        known = values.get(engine.dbms, ())
        if value not in known:
            there = ", ".join(known) or "none"
            name = engine.label if engine.connection or engine.dbms not in DBMSS else DBMSS[engine.dbms].name
            return f"{name} has no {factor.label.lower()} {value!r}; there are: {there}."
    return ""


def _place_problem(plan: Plan, name: str) -> str:
    if not name:
        return ""
    agents = [plan.agent] if plan.agent else approved_agents()
    if any(place["name"] == name and not place["problem"] for agent in agents for place in agent.places):
        return ""
    known = sorted({place["name"] for agent in agents for place in agent.places})
    return f"No usable storage {name!r}; there are: {', '.join(known) or 'none'}."


def _engines_problem(plan: Plan) -> str:
    """Why no agent can run this; empty when one can."""
    if not plan.engines:
        return "Choose at least one engine."
    if len(set(plan.engines)) < len(plan.engines):
        return "An engine is named twice."
    agents = [plan.agent] if plan.agent else approved_agents()
    if not agents:
        return "No agent is registered and approved yet."
    missing = {
        agent: [e for e in plan.engines if not registry.offers(agent, e.dbms, e.version, e.connection)]
        for agent in agents
    }
    if any(not lacks for lacks in missing.values()):
        return ""
    nowhere = [engine.label for engine in plan.engines if all(engine in lacks for lacks in missing.values())]
    if nowhere:
        where = plan.agent.name if plan.agent else "any agent"
        return f"Not available on {where}: {', '.join(nowhere)}."
    return "No single agent offers all of these engines; an experiment stays on one machine."
