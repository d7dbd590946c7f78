import { expect, test, vi } from 'vitest'
import type { Change, StoreProblem } from '../index.ts'
import { Listeners } from './listeners.ts'

const change = (id: string): Change<number> => ({ id, row: 1 })

test('each listener hears each change until it is taken out, as often as it was added', () => {
  const listeners = new Listeners<number>('keys', () => {})
  const heard: string[] = []
  const listener = ({ id }: Change<number>) => heard.push(id)
  const takeOut = [listeners.add(listener), listeners.add(listener)]
  listeners.announce(change('a'))
  takeOut[0]!()
  takeOut[0]!()
  listeners.announce(change('b'))
  takeOut[1]!()
  listeners.announce(change('c'))
  expect(heard).toEqual(['a', 'a', 'b'])
})

test('a listener that throws is reported, and the others are called', () => {
  const problems: StoreProblem[] = []
  const listeners = new Listeners<number>('keys', (problem) => problems.push(problem))
  const heard = vi.fn()
  listeners.add(() => {
    throw new Error('a secret of the listener')
  })
  listeners.add(heard)
  listeners.announce(change('a'))
  expect(heard).toHaveBeenCalledExactlyOnceWith(change('a'))
  expect(problems).toEqual([
    { code: 'LISTENER_FAILED', part: 'keys', id: 'a', message: expect.stringContaining('listener') },
  ])
  expect(problems[0]!.message).not.toContain('secret')
})

test('a listener that is added while a change is announced hears the next one', () => {
  const listeners = new Listeners<number>('keys', () => {})
  const heard: string[] = []
  const takeOut = listeners.add(() => {
    takeOut()
    listeners.add(({ id }) => heard.push(id))
  })
  listeners.announce(change('a'))
  listeners.announce(change('b'))
  expect(heard).toEqual(['b'])
})
