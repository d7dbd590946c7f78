import type { ChoiceDelta } from './forms.ts'

/** Whether a choice says nothing: no text, no role, no name of a call. */
export function isBlank({ text, delta, logprobs }: ChoiceDelta): boolean {
  return !text && !logprobs && saysNothing(delta, /^(?:index|type)$/)
}

/** Whether there is no text in a node, but in these fields. */
export function saysNothing(node: unknown, besides: RegExp): boolean {
  if (node === undefined || node === null || node === '') return true
  if (typeof node !== 'object') return false
  if (Array.isArray(node)) return node.every((item) => saysNothing(item, besides))
  return Object.entries(node).every(([field, value]) => besides.test(field) || saysNothing(value, besides))
}
