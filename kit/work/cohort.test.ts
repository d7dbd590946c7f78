import { createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setImmediate as turnEnds } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { Cohort } from './cohort.ts'

function cohortOf(members: number): Cohort {
  const cohort = new Cohort()
  for (let n = 0; n < members; n++) cohort.enter()
  return cohort
}

test('a call that is nearly alone goes on at once', () => {
  const cohort = cohortOf(3)
  let went = false
  cohort.gather(() => {
    went = true
  })
  expect(went).toBe(true)
})

test('calls that become ready in one turn go on at its end, in their order', async () => {
  const cohort = cohortOf(4)
  const went: number[] = []
  for (const n of [1, 2, 3]) cohort.gather(() => went.push(n))
  await Promise.resolve()
  expect(went).toEqual([])
  await turnEnds()
  expect(went).toEqual([1, 2, 3])
})

test('those that go on together take each step together', async () => {
  const cohort = cohortOf(4)
  const steps: string[] = []
  const calls = ['a', 'b', 'c'].map(async (name) => {
    await new Promise<void>((resolve) => cohort.gather(resolve))
    for (const step of [1, 2, 3]) {
      steps.push(`${step}${name}`)
      await Promise.resolve()
    }
  })
  await Promise.all(calls)
  expect(steps).toEqual(['1a', '1b', '1c', '2a', '2b', '2c', '3a', '3b', '3c'])
})

test('who becomes ready while the others go on is not lost', async () => {
  const cohort = cohortOf(4)
  const went: string[] = []
  cohort.gather(() => {
    went.push('first')
    cohort.gather(() => went.push('second'))
  })
  await turnEnds()
  await turnEnds()
  expect(went).toEqual(['first', 'second'])
})

test('calls that have left are not waited for', () => {
  const cohort = cohortOf(4)
  cohort.leave()
  let went = false
  cohort.gather(() => {
    went = true
  })
  expect(went).toBe(true)
})

test('what is ready goes on before another request is read', async () => {
  const cohort = cohortOf(4)
  const seen: string[] = []
  const server = createServer((req, res) => {
    seen.push(`read ${req.url}`)
    cohort.gather(() => seen.push(`went on with ${req.url}`))
    res.end()
  }).listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  const { port } = server.address() as AddressInfo
  const ask = (path: string) =>
    new Promise((resolve, reject) => {
      const asked = request({ port, host: '127.0.0.1', path }, (res) => res.resume().on('end', resolve))
      asked.on('error', reject).end()
    })
  await ask('/1')
  await ask('/2')
  server.closeAllConnections()
  server.close()
  expect(seen).toEqual(['read /1', 'went on with /1', 'read /2', 'went on with /2'])
})
