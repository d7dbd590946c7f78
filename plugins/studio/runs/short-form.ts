import { badRequest } from '#kernel'
import { isPattern } from '#kit'
import { type Assertion, assertion, notPattern } from './assertion.ts'

/** The field of an assertion that its one argument stands for. */
const argumentOf: Readonly<Record<string, string>> = {
  equals: 'text',
  contains: 'text',
  similarity: 'text',
  regex: 'pattern',
  json_schema: 'schema',
  length: 'max_chars',
  concise: 'max_words',
  judge: 'criteria',
}

/**
 * The assertion of a type and its one argument, or all its fields in an object; `judge` has what a judge has without that. Throws a
 * bad request that names `at`, or `at` with `_arg`.
 */
export function fromShortForm(
  type: string,
  argument: unknown,
  at: string,
  judge: Readonly<Record<string, unknown>> = {},
): Assertion {
  const field = argumentOf[type]
  const isWhole = type !== 'json_schema' && typeof argument === 'object' && argument !== null
  const given =
    argument === undefined || field === undefined ? {} : isWhole ? argument : { [field]: argument }
  const { data, error } = assertion.safeParse({ type, ...(type === 'judge' && judge), ...given })
  if (data) {
    if (data.type === 'regex' && !isPattern(data.pattern)) throw notPattern(`${at}_arg`)
    return data
  }
  const [issue] = error.issues
  const isType = issue?.path[0] === 'type'
  const param = isType ? at : `${at}_arg`
  throw badRequest(
    `body ${param}: ${isType ? `there is no ${type.slice(0, 50)}` : (issue?.message ?? 'is wrong')}.`,
    {
      param,
    },
  )
}
