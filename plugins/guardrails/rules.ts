import type {
  Call,
  Collection,
  Context,
  GuardrailRuleSet,
  GuardrailRules,
  OwnGuardrailRules,
  TextLocation,
} from '#kernel'
import { changed, followRows, guardrailRule, KeptSets, rowSection } from '#kit'
import { type CompiledRule, compileInput, compileRule, guardrailSet, isOfProject, typeOf } from './compile.ts'
import { type RuleRow, ruleRow } from './shapes.ts'

export const mostRules = 1000

type Direction = TextLocation['direction']
type Parts = Pick<Context<unknown>, 'store' | 'section'>

/** All rules, in memory for calls and in the store for good. A change holds for the next call, in every thread. */
export class Rules {
  readonly rows: Collection<RuleRow>
  /** Stores a rule, or deletes it, with an entry in the configuration's history. */
  readonly set: ReturnType<Parts['section']>
  readonly #compiled = new Map<string, CompiledRule>()
  readonly #sets = new KeptSets(guardrailSet)

  constructor({ store, section }: Parts) {
    this.rows = store.collection('rules', {
      schema: ruleRow,
      indexes: { project: ({ project }) => project },
    })
    this.set = section(
      rowSection<RuleRow>({
        name: 'guardrails',
        rows: this.rows,
        most: mostRules,
        isVersioned: true,
        fieldsOf(form) {
          const rule = changed({}, form, guardrailRule)
          return { ...rule, type: typeOf(rule) }
        },
      }),
    ) as Rules['set']
  }

  /** Takes in what is stored, and from then on every change; returns what ends that. */
  load(): Promise<() => void> {
    return followRows(this.rows, (id, row) => this.#take(id, row))
  }

  get size(): number {
    return this.#compiled.size
  }

  get(id: string): CompiledRule | undefined {
    return this.#compiled.get(id)
  }

  /** The rules in force for a call, ready to search; undefined for none. */
  rulesFor(
    call: Call,
    direction: Direction,
    { stored, own }: Parameters<GuardrailRules['rulesFor']>[2],
  ): GuardrailRuleSet | undefined {
    if (!this.any({ stored, own })) return undefined
    const all = [...(own as readonly CompiledRule[]), ...(stored ? this.#compiled.values() : [])]
    const { context, principal, request } = call
    const of = { project: context.project, userId: principal.userId, model: request.model }
    return this.#sets.of(all.filter((rule) => isOn(rule, direction) && rule.holdsFor(of)))
  }

  /** Whether any rule may hold for any call. */
  any({ stored, own }: Parameters<GuardrailRules['rulesFor']>[2]): boolean {
    return own.length > 0 || (stored && this.#compiled.size > 0)
  }

  /** Rules that are in the settings of a module. */
  compile(owner: string, rules: readonly object[]): OwnGuardrailRules {
    return compileInput(
      rules.map((rule) => guardrailRule.parse(rule)),
      owner,
    )
  }

  /** The rules that are on for a project and a direction, whoever calls. */
  inForce(project: string, direction: Direction): CompiledRule[] {
    return this.on(project).filter((rule) => isOn(rule, direction))
  }

  /** The rules that are on, for a project or for any. */
  on(project?: string): CompiledRule[] {
    return [...this.#compiled.values()].filter(
      ({ row }) => row.enabled && (project === undefined || isOfProject(row, project)),
    )
  }

  #take(id: string, row: RuleRow | undefined): void {
    this.#sets.clear()
    if (row) this.#compiled.set(id, compileRule(row))
    else this.#compiled.delete(id)
  }
}

function isOn({ row }: CompiledRule, direction: Direction): boolean {
  const side = direction === 'reply' ? 'response' : 'request'
  return row.enabled && (row.direction === 'both' || row.direction === side)
}
