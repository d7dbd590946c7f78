import { expect, test } from 'vitest'
import { mapAddresses } from './map-addresses.ts'

const parts = (url: string) => [
  { type: 'text', text: 'https://a.example/?text=1' },
  { type: 'image_url', image_url: { url, detail: 'low' } },
]

/** What is passed through, of an address. */
function seen(url: string): string[] {
  const texts: string[] = []
  const node = parts(url)
  const mapped = mapAddresses(node, (text) => {
    texts.push(text)
    return text
  })
  expect(mapped).toBe(node)
  return texts
}

test('the place and each pair of the query are seen, decoded, and other texts are not', () => {
  expect(seen('https://b.example/x%20y?mail=ada%40example.com&n=1+2#part')).toEqual([
    'https://b.example/x y',
    'mail=ada@example.com',
    'n=1 2',
  ])
  expect(seen('HTTP://b.example')).toEqual(['HTTP://b.example'])
  expect(seen('https://b.example/%zz?%zz')).toEqual(['https://b.example/%zz', '%zz'])
  expect(seen('data:image/png;base64,AAAA')).toEqual([])
  expect(seen('gs://bucket/x?a=b')).toEqual([])
})

test('what is changed is encoded, and all else keeps its characters', () => {
  const change = (text: string) => text.replace('secret', '[key: a&b=c]')
  const mapped = (url: string) =>
    (mapAddresses(parts(url), change)[1] as { image_url: { url: string } }).image_url
  expect(mapped('https://b.example/%7Ex?a=%7e&token=secret&c=#d')).toEqual({
    url: 'https://b.example/%7Ex?a=%7e&token=%5Bkey%3A%20a%26b%3Dc%5D&c=#d',
    detail: 'low',
  })
  expect(new URL(mapped('https://b.example/bot-secret/x?y=1').url).search).toBe('?y=1')
})

test('an address of a file is one, its bytes are not', () => {
  const change = () => 'changed'
  const file = (file_data: string) => [{ type: 'file', file: { file_data } }]
  expect(mapAddresses(file('https://b.example/a.pdf'), change)).toEqual(file('changed'))
  expect(mapAddresses(file('JVBERi0xLjQ='), change)).toEqual(file('JVBERi0xLjQ='))
})
