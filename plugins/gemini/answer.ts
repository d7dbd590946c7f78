import { type Call, type Target, WholeReply } from '#kernel'
import { Assembler } from '#kit'
import { jsonObject, protocolError } from '#provider'
import { AnswerReader } from './reader.ts'
import { isNative } from './said.ts'
import type { GenerateContentResponse } from './wire.ts'

/** A plain answer in the canonical form. */
export function answerOf(body: Buffer, call: Call, target: Target): WholeReply {
  const reader = new AnswerReader(call, target)
  const assembler = new Assembler()
  for (const chunk of reader.read(jsonObject(body, target) as GenerateContentResponse)) assembler.add(chunk)
  if (!reader.complete) {
    throw protocolError(target, 'answered without an end of the answer', { retryable: true })
  }
  const usage = reader.usage()
  if (usage) assembler.add(usage)
  const completion = assembler.completion()
  return isNative(call) ? WholeReply.fromBytes('gemini', body, completion) : WholeReply.of(completion)
}

/** The names in a list of models, without the folder they are all in. */
export function modelsIn(body: Buffer): string[] | undefined {
  const { models } = JSON.parse(body.toString('utf8')) as { models?: readonly { name?: unknown }[] }
  return models?.flatMap(({ name }) => (typeof name === 'string' ? [name.replace(/^models\//, '')] : []))
}
