import { expect, test } from 'vitest'
import { z } from 'zod'
import type { Generation } from '#kernel'
import { letsOthersIn } from '../../../test/lets-others-in.ts'
import { openapi } from './document.ts'

const fields = () => Object.fromEntries(Array.from({ length: 30 }, (_, n) => [`f${n}`, z.string().max(n)]))

/** What the document is made of: routes whose schemas nobody has asked for yet. */
const generation = {
  entries: [],
  wires: [],
  routes: Array.from({ length: 500 }, (_, n) => ({
    method: 'get',
    path: `/api/things/${n}`,
    access: 'any',
    summary: 'A thing',
    returns: z.object(fields()),
  })),
} as unknown as Generation

test('others have their turn while the document is made', async () => {
  const making = openapi(generation, '1')
  expect(await letsOthersIn(making)).toBe(true)
  expect(Object.keys((await making).paths as object)).toHaveLength(500)
})
