import { expect, test } from 'vitest'
import { cacheDirectives } from './cache-directives.ts'

test('directives are read as HTTP has them', () => {
  expect(cacheDirectives('No-Store')).toMatchObject({ skip: true })
  expect(cacheDirectives('no-cache, max-age=5')).toMatchObject({ fresh: true, maxAgeS: 5 })
  expect(cacheDirectives('max-age=x, private')).toEqual(cacheDirectives(undefined))
})
