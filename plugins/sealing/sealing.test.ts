import { createPublicKey, verify } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { kernelServices, type Personal, Sealing, Signing, type Subject } from '#kernel'
import { startGateway, type TestGateway } from '../../test/harness.ts'

let gateway: TestGateway

beforeAll(async () => {
  gateway = await startGateway()
})

afterAll(() => gateway.close())

const sealing = () => gateway.kernel.service(Sealing)!
const signing = () => gateway.kernel.service(Signing)!
const ada: Subject = { kind: 'user', id: 'usr_ada' }
const bob: Subject = { kind: 'user', id: 'usr_bob' }
const seal = async (text: string, subject = ada, purpose = 'notes') =>
  (await sealing().sealFor(purpose, subject))(text)
const erase = (subject: Subject) =>
  gateway.kernel.container.resolve<Personal>(kernelServices.personal).erase(subject, 'request')

test('what is sealed is opened for the same purpose, and for no other', async () => {
  const sealed = await seal('the moon is made of cheese')
  expect(sealing().isSealed(sealed)).toBe(true)
  expect(sealed).not.toContain(ada.id)
  expect(await sealing().open('notes', sealed)).toBe('the moon is made of cheese')
  await expect(sealing().open('journal', sealed)).rejects.toMatchObject({ code: 'SECRET_UNREADABLE' })
})

test.each(['', 'plain', 'enc:AAAA', 'sealed:', 'sealed:salt_00000000000000000000000000:enc:'])(
  'what is not sealed is refused: %j',
  async (text) => {
    await expect(sealing().open('notes', text)).rejects.toMatchObject({ code: 'SECRET_MALFORMED' })
  },
)

test('what is sealed for one cannot be passed off as sealed for another', async () => {
  const [hers, his] = [await seal('hers'), await seal('his', bob)]
  const [, salt] = his.split(':')
  const moved = hers.replace(/salt_\w+/, salt!)
  await expect(sealing().open('notes', moved)).rejects.toMatchObject({ code: 'SECRET_UNREADABLE' })
})

test('after an erasure nothing of the subject can be read, and what it does afterwards can', async () => {
  const eve: Subject = { kind: 'tenant', id: 'eve' }
  const [before, his] = [await seal('before', eve), await seal('his', bob)]
  expect(await erase(eve)).toEqual({ sealing: 1 })
  expect(await erase(eve)).toEqual({})
  expect(await sealing().open('notes', before)).toBeUndefined()
  const after = await seal('after', eve)
  expect(await sealing().open('notes', after)).toBe('after')
  expect(await sealing().open('notes', before)).toBeUndefined()
  expect(await sealing().open('notes', his)).toBe('his')
})

test('those who seal for one subject at the same time have one salt', async () => {
  const late: Subject = { kind: 'user', id: 'usr_late' }
  const sealed = await Promise.all(Array.from({ length: 20 }, (_, n) => seal(`${n}`, late)))
  expect(new Set(sealed.map((text) => text.split(':')[1])).size).toBe(1)
})

test('commitments are equal for equal facts of one subject and purpose only, and new after an erasure', async () => {
  const eve: Subject = { kind: 'user', id: 'usr_eve' }
  const commit = async (text: string, subject = eve, purpose = 'ledger') =>
    (await sealing().commitFor(purpose, subject))(text)
  const first = await commit('192.0.2.1')
  expect(first).toMatch(/^commitment:salt_\w{26}:[\w-]{43}$/)
  expect(await commit('192.0.2.1')).toBe(first)
  const others = [commit('192.0.2.2'), commit('192.0.2.1', bob), commit('192.0.2.1', eve, 'notes')]
  expect(await Promise.all(others)).not.toContain(first)
  await erase(eve)
  expect(await commit('192.0.2.1')).not.toBe(first)
})

test('a text has the same names each time, and others for another purpose or text', async () => {
  const names = (purpose: string, text: string) => sealing().namesOf(purpose, text)
  const [name] = names('notes', 'a session')
  expect(name).toMatch(/^[\w-]{43}$/)
  expect(names('notes', 'a session')).toEqual([name])
  expect([...names('journal', 'a session'), ...names('notes', 'another')]).not.toContain(name)
})

test('a salt survives a reload, and a restart', async () => {
  const sealed = await seal('kept')
  await gateway.api('POST', '/api/plugins/sealing/reload')
  expect(await sealing().open('notes', sealed)).toBe('kept')
})

const bytes = Buffer.from('the books of November')

test('a signature is checked by the public key that the API shows, without the gateway', async () => {
  const { key_id, signature } = await signing().sign(bytes)
  const { body } = await gateway.api('GET', '/api/signing-keys')
  const key = body.keys.find(({ id }: { id: string }) => id === key_id)
  const check = (data: Buffer): boolean =>
    verify(null, data, createPublicKey(key.public_key), Buffer.from(signature, 'base64url'))
  expect([check(bytes), check(Buffer.from('the books of December'))]).toEqual([true, false])
  expect(JSON.stringify(body)).not.toContain('PRIVATE')
})

test('a rotated key signs no more and still verifies', async () => {
  const old = await signing().sign(bytes)
  const { status, body } = await gateway.api('POST', '/api/signing-keys/rotate')
  expect(status).toBe(201)
  const fresh = await signing().sign(bytes)
  expect([fresh.key_id, fresh.key_id === old.key_id]).toEqual([body.id, false])
  expect(await signing().verify(bytes, old)).toBe(true)
  expect(await signing().verify(bytes, fresh)).toBe(true)
  expect(await signing().verify(bytes, { ...fresh, signature: old.signature })).toBe(false)
  expect(await signing().verify(bytes, { ...fresh, key_id: 'nobody' })).toBe(false)
  const [newest, before] = (await gateway.api('GET', '/api/signing-keys')).body.keys
  expect([newest.id, newest.retired_at, before.id, typeof before.retired_at]).toEqual([
    fresh.key_id,
    undefined,
    old.key_id,
    'string',
  ])
})

test('only admins rotate', async () => {
  const { key } = await gateway.signUp('rotating')
  expect((await gateway.api('GET', '/api/signing-keys', undefined, key)).status).toBe(200)
  expect((await gateway.api('POST', '/api/signing-keys/rotate', undefined, key)).status).toBe(403)
})
