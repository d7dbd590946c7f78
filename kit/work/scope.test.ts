import { expect, test } from 'vitest'
import { Scope } from './scope.ts'

test('what was acquired last is released first, each thing once', async () => {
  const released: string[] = []
  const scope = new Scope('test')
  for (const name of ['first', 'second']) scope.own(() => released.push(name))
  await Promise.all([scope.dispose(), scope.dispose()])
  expect(released).toEqual(['second', 'first'])
  expect(scope.signal.aborted).toBe(true)
})

test('a release that fails or never ends keeps no other from its turn, and is told', async () => {
  const released: string[] = []
  const scope = new Scope('test', 50)
  scope.own(() => released.push('first'))
  scope.own(() => new Promise(() => {}))
  scope.own(() => Promise.reject(new Error('no')))
  const failed = await scope.dispose().catch((error: AggregateError) => error.errors.map(String))
  expect(failed).toEqual(['Error: no', expect.stringContaining('its release took longer')])
  expect(released).toEqual(['first'])
})

test('what is acquired on a closed scope is released at once, and that is an error', async () => {
  const scope = new Scope('test')
  await scope.dispose()
  const released: string[] = []
  expect(() => scope.own(() => released.push('late'))).toThrow('disposed')
  expect(released).toEqual(['late'])
})

test('work that fails because the scope was disposed meanwhile is no failure, any other is', async () => {
  const scope = new Scope('test')
  await expect(scope.tryWork(() => Promise.reject(new Error('no')))).rejects.toThrow('no')
  const opened = Promise.withResolvers<void>()
  const work = scope.tryWork(async () => {
    await opened.promise
    scope.own(() => {})
  })
  await scope.dispose()
  opened.resolve()
  await expect(work).resolves.toBeUndefined()
})
