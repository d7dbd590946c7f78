import type { GatewayUnderTest } from './harness.ts'

/**
 * What came of a request, and how many short ones were answered while it was under way, one after the other. A gateway whose
 * thread is taken up answers two or three of them: those before and after.
 */
export async function answeredDuring<T>(
  { api }: Pick<GatewayUnderTest, 'api'>,
  request: Promise<T>,
): Promise<{ readonly result: T; readonly answered: number }> {
  let answered = 0
  let isOver = false
  const over = request.finally(() => {
    isOver = true
  })
  while (!isOver) {
    await Promise.race([over, api('GET', '/api/proxy/status')])
    answered += 1
  }
  return { result: await over, answered }
}

/** A schema as honest clients send it, of so many fields; the first is an integer. It takes some time to be read. */
export const largeSchema = (fields: number) => ({
  type: 'object',
  properties: Object.fromEntries(
    Array.from({ length: fields }, (_, n) => [
      `field_${n}`,
      n === 0
        ? { type: 'integer' }
        : {
            type: 'object',
            properties: { a: { type: 'integer' }, b: { enum: ['x', 'y'] } },
            required: ['a'],
          },
    ]),
  ),
})
