import type { ModelRequest } from '../canonical/forms.ts'
import { tokenLimitFields } from './token-limit.ts'

/** Fields that say what is asked for, not how: defaults for them would answer another question than was asked. */
export const contentFields: readonly string[] = [
  'model',
  'messages',
  'prompt',
  'input',
  'stream',
  'stream_options',
]

/** Those of the defaults that a request says nothing about. */
export const openDefaults = (
  request: ModelRequest,
  defaults: Readonly<Record<string, unknown>>,
): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(defaults).filter(([name]) =>
      sameMeaning(name).every((field) => request[field] === undefined),
    ),
  )

/** A request that sets its limit under one of the two names has said something about the other. */
function sameMeaning(field: string): readonly string[] {
  const limits: readonly string[] = tokenLimitFields
  return limits.includes(field) ? limits : [field]
}
