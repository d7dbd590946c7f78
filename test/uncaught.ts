import { parseAst } from 'vitest/node'

/** A node of a syntax tree, as far as it is looked at here. */
interface Node {
  readonly type: string
  readonly start: number
  readonly [field: string]: unknown
}

/** Functions that have Node call what they are given, by the place of that among their arguments. */
const calledLater: ReadonlyMap<string, number> = new Map([
  ['setTimeout', 0],
  ['setInterval', 0],
  ['setImmediate', 0],
  ['queueMicrotask', 0],
  ['nextTick', 0],
  ['createServer', -1],
])
/** The same, where they are methods whose first argument is the name of an event. */
const listening = new Set([
  'on',
  'once',
  'addListener',
  'prependListener',
  'prependOnceListener',
  'addEventListener',
])

/** What neither throws nor runs code of others: it settles a promise, stops a timer, lets go of a stream, changes a set. */
const harmless: ReadonlySet<string> = new Set([
  ...['resolve', 'reject', 'abort', 'clearTimeout', 'clearInterval', 'clearImmediate', 'unref'],
  ...[
    'off',
    'removeEventListener',
    'add',
    'delete',
    'clear',
    'get',
    'set',
    'has',
    'values',
    'push',
    'splice',
    'destroy',
    'tellContained',
  ],
])

/**
 * Where a source file hands Node work whose exception would end the process: a callback of a timer, a listener or a
 * message handler that is not given to `contain` and does more than what is harmless, or a promise that is left alone
 * without `detach` or `catch`. Each is `line: text`.
 */
export function uncaught(text: string): string[] {
  const program = parseAst(text, { lang: 'ts' }) as unknown as Node
  const safe = safeNames(program)
  const found: Node[] = []
  walk(program, (node) => {
    const callback = callbackOf(node)
    if (callback && !isSafe(callback, safe)) found.push(callback)
    if (isLeftAlone(node, safe)) found.push(node)
  })
  return found.map(({ start }) => {
    const line = text.slice(0, start).split('\n').length
    return `${line}: ${text.slice(start).split('\n')[0]}`
  })
}

/** Names of what is harmless anywhere, and of functions of this file that call nothing else. */
function safeNames(program: Node): ReadonlySet<string> {
  const functions: [name: string, value: Node][] = []
  walk(program, (node) => {
    const [name, value] = named(node)
    if (name !== '' && value) functions.push([name, value])
  })
  const safe = new Set(harmless)
  for (let size = 0; size < safe.size; ) {
    size = safe.size
    for (const [name, value] of functions)
      if (isContain(value) || (isFunction(value) && isHarmless(value.body as Node, safe))) safe.add(name)
  }
  return safe
}

/** The callback that a call has Node call, if it does. */
function callbackOf(node: Node): Node | undefined {
  if (node.type === 'NewExpression' && nameOf(node.callee) === 'FinalizationRegistry')
    return list(node.arguments)[0]
  if (node.type !== 'CallExpression') return undefined
  const name = nameOf(node.callee)
  const args = list(node.arguments)
  const place = calledLater.get(name)
  if (place !== undefined) {
    const callback = args.at(place)
    return place >= 0 || isFunction(callback) || isContain(callback) ? callback : undefined
  }
  if (name === 'watch' && args.length > 1 && isFunction(args.at(-1))) return args.at(-1)
  const [event, listener] = args
  return listening.has(name) && event?.type === 'Literal' ? listener : undefined
}

function isSafe(callback: Node, safe: ReadonlySet<string>): boolean {
  if (isContain(callback)) return true
  return isFunction(callback) ? isHarmless(callback.body as Node, safe) : safe.has(nameOf(callback))
}

/** Whether a body calls nothing but what is safe, or catches all that it does. */
function isHarmless(body: Node, safe: ReadonlySet<string>): boolean {
  const statements = list(body.body)
  if (statements.length === 1 && statements[0]!.type === 'TryStatement')
    return statements[0]!.handler !== null
  let isSafe = true
  walk(body, (node) => {
    if (isCaught(node)) return false
    if (node.type === 'ThrowStatement' || node.type === 'AwaitExpression') isSafe = false
    if (node.type === 'CallExpression' && !safe.has(nameOf(node.callee))) isSafe = false
    return true
  })
  return isSafe
}

/** Whether a promise goes on alone, for all that can be seen: `void` before a call, or `then` at the end of a statement. */
function isLeftAlone(node: Node, safe: ReadonlySet<string>): boolean {
  if (node.type === 'UnaryExpression' && node.operator === 'void') {
    const { type, callee } = node.argument as Node
    return type === 'CallExpression' && !isCaught(node.argument as Node) && !safe.has(nameOf(callee))
  }
  if (node.type !== 'ExpressionStatement') return false
  const { type, callee, arguments: settled } = node.expression as Node
  return (
    type === 'CallExpression' && nameOf(callee) === 'then' && !list(settled).every((one) => isSafe(one, safe))
  )
}

/** A promise whose rejection is caught. */
const isCaught = ({ type, callee }: Node): boolean => type === 'CallExpression' && nameOf(callee) === 'catch'

const isContain = (node: Node | undefined): boolean =>
  node?.type === 'CallExpression' && nameOf(node.callee) === 'contain'

const functions = new Set(['ArrowFunctionExpression', 'FunctionExpression', 'FunctionDeclaration'])
const isFunction = (node: Node | undefined): node is Node => functions.has(node?.type ?? '')

/** What a variable, a function, a field or a method is called, and what it is. */
function named(node: Node): readonly [name: string, value: Node | undefined] {
  switch (node.type) {
    case 'VariableDeclarator':
      return [nameOf(node.id), node.init as Node | undefined]
    case 'FunctionDeclaration':
      return [nameOf(node.id), node]
    case 'PropertyDefinition':
    case 'MethodDefinition':
      return [nameOf(node.key), node.value as Node | undefined]
    default:
      return ['', undefined]
  }
}

/** The last name of an expression: `on` of `worker.on`, `#end` of `this.#end`. */
function nameOf(node: unknown): string {
  if (typeof node !== 'object' || node === null) return ''
  const { type, name, property, expression } = node as Node
  if (type === 'MemberExpression') return nameOf(property)
  if (type === 'TSNonNullExpression' || type === 'ChainExpression') return nameOf(expression)
  if (typeof name !== 'string') return ''
  return type === 'PrivateIdentifier' ? `#${name}` : name
}

const list = (value: unknown): readonly Node[] => (Array.isArray(value) ? value : [])

/** Visits a node and what is in it, unless the visitor says no. */
function walk(node: Node, visit: (node: Node) => unknown): void {
  if (visit(node) === false) return
  for (const field in node) {
    const value = node[field]
    for (const inner of Array.isArray(value) ? value : [value]) {
      if (typeof inner === 'object' && inner !== null && 'type' in inner) walk(inner as Node, visit)
    }
  }
}
