import type { AttackType } from '../attack-type.ts'
import { dataDisclosure } from './data-disclosure.ts'
import { outputHandling } from './output-handling.ts'
import { policyBypass } from './policy-bypass.ts'
import { promptInjection } from './prompt-injection.ts'
import { systemPromptLeak } from './system-prompt-leak.ts'
import { toolAbuse } from './tool-abuse.ts'

export const attackTypes: readonly AttackType[] = [
  promptInjection,
  systemPromptLeak,
  dataDisclosure,
  toolAbuse,
  outputHandling,
  policyBypass,
]

export const attackTypeOf = (id: string): AttackType | undefined => attackTypes.find((type) => type.id === id)
