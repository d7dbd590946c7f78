import path from 'node:path'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { argumentRule, compileArguments } from './arguments.ts'

const passes = (rule: object, value: unknown, tool = 'run'): boolean =>
  compileArguments([argumentRule.parse(rule)])(tool, { value })

describe('paths', () => {
  const rule = { paths: ['.', '/workspace'] }

  test.each([
    'a.txt',
    './src/../b.txt',
    '/workspace',
    '/workspace/a/b',
    '/workspace/../workspace/a',
    'a\\b.txt',
  ])('%j is inside', (value) => expect(passes(rule, value)).toBe(true))

  test.each([
    '',
    '/etc/passwd',
    '../a',
    'a/../../b',
    '/workspace/../etc',
    '/workspaces/a',
    '~/a',
    'C:\\a',
    '..\\a',
    '\\\\host\\share',
    '//host/share',
    'file:///workspace/a',
    '%2e%2e/a',
    'a\0/../b',
    ' /etc/passwd',
  ])('%j is not', (value) => expect(passes(rule, value)).toBe(false))

  test('what is inside is there for whoever resolves it', () => {
    const part = fc.constantFrom('..', '.', 'a', 'workspace', '', '~', '\\', 'b c')
    fc.assert(
      fc.property(fc.array(part, { maxLength: 8 }), fc.boolean(), (parts, isAbsolute) => {
        const value = (isAbsolute ? '/' : '') + parts.join('/')
        const resolved = `${path.posix.resolve('/home/me', value.replaceAll('\\', '/'))}/`
        const isInside = resolved.startsWith('/home/me/') || resolved.startsWith('/workspace/')
        if (passes(rule, value)) expect(isInside).toBe(true)
      }),
    )
  })
})

describe('hosts', () => {
  const rule = { hosts: ['example.com', '*.example.com'] }

  test.each(['example.com', 'EXAMPLE.com.', 'https://api.example.com:8443/x', 'api.example.com:80'])(
    '%j is allowed',
    (value) => expect(passes(rule, value)).toBe(true),
  )

  test.each([
    'evil.com',
    'https://example.com@evil.com/',
    'https://evil.com/?example.com',
    'https://evil.com\\@example.com',
    '//evil.com',
    'https://example.com.evil.com',
    'file://example.com/etc',
    'javascript:alert(1)',
    'https://exam\tple.com.evil.com',
    'two words',
  ])('%j is not', (value) => expect(passes(rule, value)).toBe(false))
})

test.each(['a; rm -rf /', 'a && b', '$(id)', '`id`', 'a | b', 'a > b', 'a\nb', '*', "it's", '{a,b}'])(
  '%j has characters of a shell',
  (value) => expect(passes({ shell: false }, value)).toBe(false),
)

test('plain words are none of a shell', () => {
  for (const value of ['main.ts', 'git status', '--all=1', 'a/b_c-d', 'ä', 5, true, null])
    expect(passes({ shell: false }, value)).toBe(true)
})

test('patterns allow and deny, in linear time', () => {
  const rule = { allow: ['^[a-z]+$', '^[0-9]+$'], deny: ['^rm'] }
  expect([passes(rule, 'ls'), passes(rule, 42), passes(rule, 'rmdir'), passes(rule, 'a b')]).toEqual([
    true,
    true,
    false,
    false,
  ])
  expect(passes({ deny: ['^(a+)+$'] }, `${'a'.repeat(50_000)}!`)).toBe(true)
})

test('a rule is about its tools and its arguments only, at every depth', () => {
  const rule = { tools: ['fs_*'], arguments: ['files.*.path'], paths: ['.'] }
  const check = compileArguments([argumentRule.parse(rule)])
  const bad = { files: [{ path: 'a' }, { path: '/etc' }] }
  expect(check('fs_read', bad)).toBe(false)
  expect(check('other', bad)).toBe(true)
  expect(check('fs_read', { files: [{ path: 'a', name: '/etc' }], path: '/etc' })).toBe(true)
})
