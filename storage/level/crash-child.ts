import { execFileSync } from 'node:child_process'
import { writeSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
import { StoreError } from '../errors.ts'
import { openLevel } from '../level.ts'
import {
  accountOptions,
  bodyOf,
  eventOptions,
  Link,
  linkAfter,
  newerAccountOptions,
  noteOptions,
} from './crash-parts.ts'

/**
 * Writes until it is killed, and says on its output what was acknowledged. Started by the crash tests with a folder,
 * what to do, and a number that its ids begin with.
 */
const [folder = '', task, run = '0'] = process.argv.slice(2)
const engine = await openLevel(folder)
const say = (...words: (string | number)[]) => writeSync(1, `${words.join(' ')}\n`)

async function writeAccounts(writer: number): Promise<void> {
  const accounts = engine.collection('accounts', accountOptions)
  for (let n = 0; ; n++) {
    const id = `${run}-${writer}-${n}`
    await accounts.put(id, { owner: `o${n % 5}`, balance: n })
    say('put', id)
    if (n % 4 === 3) {
      const gone = `${run}-${writer}-${n - 2}`
      say('deleting', gone)
      await accounts.delete(gone)
    }
    await accounts.update('shared', (row) => ({ owner: 'all', balance: (row?.balance ?? 0) + 1 }))
    say('updated')
  }
}

async function writeLinks(): Promise<void> {
  const chain = engine.sequence('chain', Link)
  for (;;) {
    const { seq } = await chain.append(linkAfter)
    say('link', seq)
  }
}

async function queueLinks(): Promise<void> {
  const chain = engine.sequence('queued', Link)
  for (let n = 0; ; n++) {
    for (let more = 0; more < 20; more++) chain.queue(linkAfter)
    if (n % 5 === 0) {
      await chain.flush()
      say('queued', await chain.last())
    }
    await pause(1)
  }
}

async function writeEvents(): Promise<void> {
  const events = engine.log('events', eventOptions)
  for (let n = 0; ; n++) {
    const id = `${run}-${String(n).padStart(8, '0')}`
    events.append({ id, at: n, kind: `k${n % 3}` }, () => `body of ${id}`)
    if (n % 50 !== 0) continue
    await events.flush()
    say('event', id)
    await pause(1)
  }
}

/** Moves between accounts, each time with a row of its own and two links, or is refused with all of them. */
async function writeTransactions(writer: number): Promise<void> {
  const accounts = engine.collection('accounts', accountOptions)
  const moves = engine.collection('moves', accountOptions)
  const links = engine.namespace('moved').sequence('links', Link)
  for (let n = 0; ; n++) {
    const id = `${run}-${writer}-${n}`
    const moved = engine.transaction((tx) => {
      tx.update(accounts, 'giver', (row) => ({ owner: 'all', balance: (row?.balance ?? 0) - 1 }))
      tx.append(links, linkAfter)
      tx.create(moves, id, { owner: `o${n % 5}`, balance: n })
      tx.update(accounts, 'taker', (row) => ({ owner: 'all', balance: (row?.balance ?? 0) + 1 }))
      tx.append(links, linkAfter)
      tx.require(moves, id, () => n % 7 !== 3)
    })
    const word = await moved.then(
      () => 'moved',
      () => 'refused',
    )
    say(word, id)
  }
}

/** Writes bodies with a row each, and one that is always replaced; a body is made of its id and number. */
async function writeBodies(): Promise<void> {
  const bodies = engine.bodies('files', { leaseMs: 100 })
  const notes = engine.collection('notes', noteOptions)
  for (let n = 0; ; n++) {
    for (const id of [`${run}-${n % 5}`, 'shared']) {
      const seed = `${id} ${run}-${n}`
      say('writing', id)
      await bodies.write(id, bodyOf(seed, 40_000 * (n % 7)), (tx) => tx.put(notes, id, { seed }))
      say('body', id)
    }
    const gone = `${run}-${(n + 2) % 5}`
    if (n % 3 === 2) await bodies.delete(gone, (tx) => tx.delete(notes, gone))
  }
}

/** Fills a disk that has no room, shows what still works, and goes on when it has room again. */
async function fillDisk(): Promise<void> {
  const accounts = engine.collection('accounts', accountOptions)
  const events = engine.log('events', eventOptions)
  const ballast = 'x'.repeat(10_000)
  let refused = 0
  let appended = 0
  const fill = async (writer: number) => {
    for (let n = 0; refused < 20; n++) {
      const id = `${writer}-${n}`
      events.append({ id, at: n, kind: 'k' }, () => ballast)
      appended++
      try {
        await accounts.put(id, { owner: `o${n % 5}`, balance: n })
        say('put', id)
      } catch (error) {
        refused++
        say('refused', error instanceof StoreError ? error.code : 'UNKNOWN')
      }
    }
  }
  await Promise.all([fill(0), fill(1), fill(2)])
  say('readable', await accounts.count())
  await events.flush().catch(() => {})
  say('waiting', events.status().depth, (await events.list()).total, appended)
  execFileSync('prlimit', ['--pid', String(process.pid), '--fsize=unlimited'])
  const isWritten = () =>
    accounts.put('after', { owner: 'o0', balance: 1 }).then(
      () => true,
      () => false,
    )
  while (!(await isWritten())) await pause(50)
  say('put', 'after')
  await events.flush()
  say('written', events.status().depth, (await events.list()).total, events.status().dropped)
}

if (task === 'fill') {
  await fillDisk()
} else if (task === 'migrate') {
  const patience = new Int32Array(new SharedArrayBuffer(4))
  engine.collection('accounts', {
    ...newerAccountOptions,
    migrate(row) {
      Atomics.wait(patience, 0, 0, 1)
      say('migrating')
      return newerAccountOptions.migrate(row)
    },
  })
} else {
  const chains = Array.from({ length: 3 }, writeLinks)
  const transactions = [0, 1].map(writeTransactions)
  await Promise.all([
    ...[0, 1, 2, 3].map(writeAccounts),
    ...chains,
    ...transactions,
    queueLinks(),
    writeBodies(),
    writeEvents(),
  ])
}
