import type { Strategy } from './strategy.ts'

/** Ways to the model other than a message of the user. */
export const carriers: readonly Strategy[] = [
  {
    id: 'tool_result',
    description: 'The attack stands in what a tool returns.',
    carrier: 'tool_result',
  },
  { id: 'document', description: 'The attack stands in a document.', carrier: 'document' },
  {
    id: 'multi_turn',
    description: 'The attack comes after harmless turns that lead to it.',
    carrier: 'multi_turn',
  },
  {
    id: 'many_shot',
    description: 'The attack comes after many examples in which the model obeys.',
    carrier: 'many_shot',
    rule: { pattern: '(?i)(?:answer: of course\\b[^\\n]*\\s+question:[^\\n]*\\s+){4}', max_length: 1000 },
  },
  {
    id: 'splitting',
    description: 'The attack comes in parts, which the model puts together.',
    carrier: 'split',
    rule: { pattern: '(?i)\\b(?:put|join|add)\\b.{0,40}\\btogether\\b.{0,60}\\bdo what\\b' },
  },
]
