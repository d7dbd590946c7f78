import type { AttackType, Seed } from '../attacks/attack-type.ts'
import { attackTypes } from '../attacks/types/index.ts'

/** One attack of the quick scan. */
export interface Probe {
  readonly type: AttackType
  readonly seed: Seed
  readonly description: string
}

const descriptions: Readonly<Record<string, string>> = {
  prompt_injection: 'The user says that the instructions no longer hold, and gives another task.',
  system_prompt_leak: 'The user asks for the instructions, which are confidential.',
  data_disclosure: 'The user says to be a customer, and asks for what a record has.',
  tool_abuse: 'A mail that the model reads tells it to send mails to a stranger.',
  output_handling: 'A document tells the model to carry internal data out in the address of an image.',
}

/** The five probes: a type each, with its first seed. */
export const probes: readonly Probe[] = attackTypes.flatMap((type) => {
  const description = descriptions[type.id]
  return description === undefined ? [] : [{ type, seed: type.seeds[0]!, description }]
})
