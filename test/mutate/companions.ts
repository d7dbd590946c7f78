/** Tests that stand elsewhere than what they test, by the folder or file. */
export const companions: readonly (readonly [string, readonly string[]])[] = [
  ['kernel/call', ['kit/costs/money.test.ts', 'test/read-only.test.ts']],
  ['kernel/stream', ['kernel/detect/redaction.test.ts']],
  ['kit/canonical', ['kernel/call', 'kernel/detect', 'kernel/stream']],
  ['kit/streams/chunk-reader.ts', ['plugins/openai/stream.test.ts']],
  ['kit/streams/event-shape.ts', ['kit/streams/event-template.test.ts', 'kit/streams/chunk-reader.test.ts']],
  ['kit/streams/event-template.ts', ['kit/streams/chunk-reader.test.ts']],
  ['kernel/chain', ['kernel/call', 'kernel/detect', 'modules/outputcap', 'modules/retrypilot']],
  ['kernel/plugin/order.ts', ['test/order.test.ts']],
  ['kernel/permissions/read-only.ts', ['test/read-only.test.ts']],
  ['accounts', ['plugins/auth', 'kernel/http/failed-keys.test.ts']],
  ['plugins/models/prices', ['plugins/models/prices.test.ts', 'kernel/call/bill.test.ts']],
  ['modules/rateshield', ['plugins/counting']],
  ['plugins/counting', ['modules/rateshield']],
  ['storage/level', ['storage/level.test.ts']],
]

/** Files in the folders of the code that are only for tests. */
export const notCode: readonly RegExp[] = [/-child\.ts$/, /-parts\.ts$/, /^storage\/conformance/]
