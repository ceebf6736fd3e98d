// build.mjs FOLDER: makes the site of the documentation there. The pages are the repository's Markdown files, laid out as they are
// in the repository, so that their links hold. Search works without a network, and nothing comes from other servers.
import { cpSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { execFileSync } from 'node:child_process'
import { tmpdir } from 'node:os'
import { dirname, join, posix, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'vitepress'

const here = dirname(fileURLToPath(import.meta.url))
const root = resolve(here, '../..')
if (process.argv.length !== 3) throw new Error('usage: node build.mjs FOLDER')
const target = resolve(process.argv[2])

const files = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard', '*.md', '*.svg'], { cwd: root, encoding: 'utf8' })
  .split('\n').filter((f) => f && !f.startsWith('.github/') && !/(^|\/)testdata\//.test(f))
const pages = new Set(files.filter((f) => f.endsWith('.md')))
const asPage = (f) => f.replace(/(^|\/)README\.md$/, '$1index.md')

// A link within the repository leads to a page of the site, or nowhere: code is not part of it.
function relink(line, page) {
  return line.replace(/(!?)\[((?:[^\[\]]|\[[^\]]*\])*)\]\(([^)\s]+)\)/g, (whole, image, text, to) => {
    if (/^[a-z]+:/.test(to) || to.startsWith('#')) return whole
    const [path, anchor] = to.split('#')
    const file = posix.join(posix.dirname(page), path)
    if (image) return files.includes(file) ? `![${text}](${posix.relative(posix.dirname(page), file).replace(/^(?!\.)/, './')})` : text
    return pages.has(file) ? `[${text}](${asPage(path)}${anchor ? '#' + anchor : ''})` : text
  })
}

// What the tests of the documentation read is not for readers.
function staged(page) {
  let fence = ''
  return readFileSync(join(root, page), 'utf8').split('\n').filter((line) => !/^\s*<!-- (norun|file|output|error|python|node)\b.*-->$/.test(line)).map((line) => {
    const mark = /^\s*(```+)/.exec(line)?.[1]
    if (fence) {
      if (mark === fence && line.trim() === mark) fence = ''
      return line
    }
    if (mark) {
      fence = mark
      return line.replace(/(```+)gbnf$/, '$1text') // the highlighter doesn't know it
    }
    // Footnotes, which the generator doesn't have, as small figures.
    return relink(line, page).replace(/\[\^(\d)\](: )?/g, (_, n, definition) => '⁰¹²³⁴⁵⁶⁷⁸⁹'[n] + (definition ? ' ' : ''))
  }).join('\n')
}

// The sidebar is docs/README.md: its headings and the first link of each item.
function sidebar() {
  const groups = []
  for (const line of readFileSync(join(root, 'docs/README.md'), 'utf8').split('\n')) {
    const heading = /^## (.*)/.exec(line)?.[1]
    if (heading) groups.push({ text: heading, collapsed: groups.length > 1, items: [] })
    for (const [, text, to] of line.matchAll(/\[([^\]]+)\]\(([^)#\s]+\.md)(?:#[^)]*)?\)/g)) {
      const link = '/' + asPage(posix.join('docs', to))
      const items = groups.at(-1)?.items
      if (items && !items.some((i) => i.link === link)) items.push({ text: text.replaceAll('`', ''), link })
    }
  }
  return groups
}

const work = mkdtempSync(join(tmpdir(), 'stencil-site-'))
try {
  for (const file of files) {
    const to = join(work, asPage(file))
    mkdirSync(dirname(to), { recursive: true })
    if (file.endsWith('.md')) writeFileSync(to, staged(file))
    else cpSync(join(root, file), to)
  }
  symlinkSync(join(here, 'node_modules'), join(work, 'node_modules'))
  mkdirSync(join(work, '.vitepress/theme'), { recursive: true })
  writeFileSync(join(work, '.vitepress/config.mjs'), `export default ${JSON.stringify({
    title: 'stencil', description: 'A local inference server for structured output', lang: 'en', outDir: target, cacheDir: join(work, '.cache'),
    head: [], lastUpdated: false, appearance: true, metaChunk: true, srcExclude: ['node_modules/**'],
    markdown: { html: false, theme: { light: 'github-light', dark: 'github-dark' } },
    themeConfig: {
      search: { provider: 'local' }, outline: [2, 3], sidebar: sidebar(),
      nav: [{ text: 'Start', link: '/docs/start.md' }, { text: 'Documentation', link: '/docs/index.md' }, { text: 'Examples', link: '/examples/index.md' }, { text: 'Changes', link: '/CHANGELOG.md' }],
    },
  })}\n`)
  // The theme's fonts are its own files. Pages may have braces, which Vue must not take for its own.
  writeFileSync(join(work, '.vitepress/theme/index.mjs'), "export { default } from 'vitepress/theme'\n")
  rmSync(target, { recursive: true, force: true })
  process.chdir(work)
  await build(work)
  // The theme can fetch icons of social networks from elsewhere. The site has none.
  const chunks = join(target, 'assets/chunks')
  for (const file of readdirSync(chunks)) {
    const text = readFileSync(join(chunks, file), 'utf8')
    if (text.includes('https://api.iconify.design')) writeFileSync(join(chunks, file), text.replaceAll('https://api.iconify.design', ''))
  }
  console.log(`${pages.size} pages in ${target}; to read them: python3 -m http.server -d ${process.argv[2]} 8000`)
} finally {
  process.chdir('/')
  rmSync(work, { recursive: true, force: true })
}
