import { once } from 'node:events'
import { expect, test } from 'vitest'
import { Cancel } from './cancel.ts'

const over = new Error('over')

test('listeners are called once, with the first reason', () => {
  const cancel = new Cancel()
  const reasons: Error[] = []
  cancel.onAbort((reason) => reasons.push(reason))
  cancel.abort(over)
  cancel.abort(new Error('again'))
  expect(reasons).toEqual([over])
  expect(cancel.reason).toBe(over)
  expect(cancel.aborted).toBe(true)
})

test('who listens too late is called at once', () => {
  const cancel = new Cancel()
  cancel.abort(over)
  const reasons: Error[] = []
  cancel.onAbort((reason) => reasons.push(reason))
  expect(reasons).toEqual([over])
})

test('who stopped listening is not called', () => {
  const cancel = new Cancel()
  const reasons: Error[] = []
  const forget = cancel.onAbort((reason) => reasons.push(reason))
  forget()
  forget()
  cancel.abort(over)
  expect(reasons).toEqual([])
})

test('a listener that throws is warned of, and keeps no other from being called', async () => {
  const warned = once(process, 'warning')
  const cancel = new Cancel()
  const reasons: Error[] = []
  cancel.onAbort(() => {
    throw new Error('broken listener')
  })
  cancel.onAbort((reason) => reasons.push(reason))
  cancel.abort(over)
  expect(reasons).toEqual([over])
  expect(await warned).toMatchObject([{ message: 'broken listener' }])
})

test('check throws the reason when it is over, and nothing before', () => {
  const cancel = new Cancel()
  cancel.check()
  cancel.abort(over)
  expect(() => cancel.check()).toThrow(over)
})

test('the signal aborts with the same reason, asked for before or after', () => {
  const cancel = new Cancel()
  const early = cancel.signal
  expect(early.aborted).toBe(false)
  cancel.abort(over)
  expect(early.reason).toBe(over)
  const late = new Cancel()
  late.abort(over)
  expect(late.signal.reason).toBe(over)
})

test('a child ends with the whole, and alone without it', () => {
  const whole = new Cancel()
  const first = whole.child().cancel
  const second = whole.child().cancel
  first.abort(over)
  expect([first.aborted, second.aborted, whole.aborted]).toEqual([true, false, false])
  const end = new Error('end')
  whole.abort(end)
  expect(second.reason).toBe(end)
  expect(first.reason).toBe(over)
})

test('a released child lives on when the whole ends', () => {
  const whole = new Cancel()
  const { cancel, release } = whole.child()
  release()
  whole.abort(over)
  expect(cancel.aborted).toBe(false)
})

test('a child of what is over is over', () => {
  const whole = new Cancel()
  whole.abort(over)
  expect(whole.child().cancel.reason).toBe(over)
})

test('there is one signal, whoever asks for it', () => {
  const cancel = new Cancel()
  expect(cancel.signal).toBe(cancel.signal)
})

test('who stops listening twice, or too late, takes nobody else along', () => {
  const cancel = new Cancel()
  const heard: string[] = []
  const forget = cancel.onAbort(() => heard.push('first'))
  cancel.onAbort(() => heard.push('second'))
  forget()
  forget()
  cancel.abort(over)
  forget()
  expect(heard).toEqual(['second'])
})
