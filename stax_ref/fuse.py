"""fuse: which nodes share one kernel (seed §7.2, §7.3).

Takes the dependence records; gives ``Groups`` and one ``Decision`` for every pair looked at. The
stage itself is short: what may be fused is ``legality``'s, which pair comes first ``greedy``'s and
``bestfirst``'s, that no two kernels wait for each other ``acyclic``'s. Not here: the order of
kernels (``order``), statements (``nest``).
"""

from __future__ import annotations

from . import greedy
from .acyclic import Ancestry
from .bestfirst import fewest_bytes
from .config import Config
from .depend import Edges
from .group import Groups
from .legality import NodeRules
from .templates import with_templates


def fuse(edges: Edges, config: Config) -> Groups:
    """Dependences → groups.

    Args:
        edges: records in program order.
        config: ``schedule="seed"`` is Algorithm 7.1 to the letter; the default fuses what saves
            most bytes first and looks at the result's neighbours at once. The reading of Definition
            7.2 and every limit of §7.3 are the configuration's too.

    Returns:
        groups in program order of their first member, decisions and the log.
    """
    rules = NodeRules(edges, config)
    predecessors = edges.predecessors()
    numbered = [[rules.position[n] for n in predecessors[r.node.name]] for r in edges.records]
    units = [rules.unit(number, record) for number, record in enumerate(edges.records)]
    run = greedy.Run(units, Ancestry(numbered), rules, config)
    if config.seed:
        greedy.in_rounds(run)
    else:
        run = fewest_bytes(run, rules.traffic)
    groups, templates = with_templates(run.units, run.ancestry, rules, config)
    return Groups(tuple(groups), (*run.answers.values(), *templates), tuple(run.log), edges)
