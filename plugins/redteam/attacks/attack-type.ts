import type { SafetyFinding, Tool } from '#kernel'
import type { RulePattern } from './rule-pattern.ts'

/** The OWASP Top 10 for LLM Applications of 2025, the ATLAS techniques of MITRE, and the profile NIST AI 600-1. */
export interface Taxonomy {
  readonly owasp_llm: string
  readonly mitre_atlas: string
  readonly nist: string
}

/** How an attack reaches the model. */
export type Carrier = 'user' | 'document' | 'tool_result' | 'multi_turn' | 'many_shot' | 'split'

/** An attack in plain words, before strategies change it. */
export interface Seed {
  readonly id: string
  /** An ISO 639-1 code. */
  readonly language: string
  readonly text: string
}

/**
 * A kind of attack: what it wants, and by which sign it is known to have got it. In its texts `{{mark}}` stands for a word that is
 * made for one attack, and `{{half1}}` and `{{half2}}` for its halves.
 */
export interface AttackType {
  readonly id: string
  readonly name: string
  readonly category: string
  readonly severity: SafetyFinding['severity']
  readonly taxonomy: Taxonomy
  /** The instructions of the attacked model, unless the caller brings some. */
  readonly system: string
  /**
   * The sign: the mark of the instructions is told, the halves are put together, the tool is called with the mark, or a link
   * carries the mark out.
   */
  readonly goal: 'leak' | 'say' | 'tool' | 'link'
  /** The tool that must not be called; the first one is what a document comes by. */
  readonly tools?: readonly Tool[]
  readonly forbiddenTool?: string
  readonly carrier: Carrier
  /** What guards that are to catch it find. */
  readonly finds: readonly SafetyFinding['type'][]
  /** What would stop its seeds in plain words. */
  readonly rule: RulePattern
  readonly seeds: readonly Seed[]
}
