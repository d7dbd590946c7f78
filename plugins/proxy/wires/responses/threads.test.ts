import { afterAll, beforeAll, expect, test } from 'vitest'
import { startThreaded, type ThreadedGateway } from '../../../../test/threaded.ts'

/** Of so many conversations some change threads, but for one time in half a million. */
const enough = 12

let gateway: ThreadedGateway

beforeAll(async () => {
  gateway = await startThreaded(3, {})
})

afterAll(() => gateway.close())

/** The id of a response to a call on a connection of its own, read when the client has the last of it. */
async function respond(fields: object = {}): Promise<string> {
  const body = { model: 'gpt-4o-mini', input: 'Hello', ...fields }
  const { status, text } = await gateway.post('/v1/responses', body).answer
  expect([status, text]).toEqual([200, expect.stringContaining('resp_')])
  return /resp_\w+/.exec(text)![0]
}

test.each(['plain', 'streamed'])('a response is there for every thread at once, %s', async (how) => {
  const stream = how === 'streamed'
  for (let n = 0; n < enough; n += 1) {
    const first = await respond({ stream })
    const id = await respond({ stream, previous_response_id: first })
    const at = `/v1/responses/${id}`
    expect(await gateway.api('GET', at)).toMatchObject({ id, previous_response_id: first })
    expect((await gateway.api('GET', `${at}/input_items`)).data).toHaveLength(3)
  }
})

test('a response is deleted from every thread at once', async () => {
  for (let n = 0; n < enough; n += 1) {
    const id = await respond()
    expect(await gateway.api('DELETE', `/v1/responses/${id}`)).toMatchObject({ id, deleted: true })
    const next = { model: 'gpt-4o-mini', input: 'And?', previous_response_id: id }
    expect((await gateway.post('/v1/responses', next).answer).status).toBe(404)
  }
})
