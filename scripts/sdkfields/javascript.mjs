// Prints the parameters of the methods of OpenAI's, Anthropic's and Ollama's JavaScript clients in FOLDER/node_modules as
// JSON, in the form of python.py. Types come from the .d.ts files, verbs and paths from the code beside them.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';

const folder = path.resolve(process.argv[2], 'node_modules');
const ts = createRequire(path.join(folder, 'index.js'))('typescript');

function files(dir) {
  return readdirSync(dir, { withFileTypes: true }).flatMap((one) => {
    const name = path.join(dir, one.name);
    return one.isDirectory() ? files(name) : one.name.endsWith('.d.ts') && existsSync(name.replace(/\.d\.ts$/, '.mjs')) ? [name] : [];
  });
}

const parse = (file) => ts.createSourceFile(file, readFileSync(file, 'utf8'), ts.ScriptTarget.ESNext, true);

function* descendants(node) {
  yield node;
  for (const one of node.getChildren()) yield* descendants(one);
}

// text returns the text of a literal or a template, with {} for what is put in.
function text(node) {
  if (ts.isTaggedTemplateExpression(node)) node = node.template;
  if (ts.isStringLiteralLike(node)) return node.text;
  if (ts.isTemplateExpression(node)) return node.head.text + node.templateSpans.map((span) => `{${ts.isIdentifier(span.expression) ? span.expression.text : ''}}` + span.literal.text).join('');
}

// request returns the verb and the path of a request that code sends, if it does; one that another function sends for it is followed.
function request(code, depth = 0) {
  const called = [...descendants(code)].filter(ts.isCallExpression);
  for (const call of called) {
    const name = (call.expression.name ?? call.expression).getText();
    const verb = { post: 'POST', get: 'GET', delete: 'DELETE', del: 'DELETE', getAPIList: 'GET', processStreamableRequest: 'POST' }[name];
    let to = verb && call.arguments.map(text).find((one) => one !== undefined)?.replace(/\?.*/, '');
    if (to && name === 'processStreamableRequest') to = `/api/${to}`;
    if (to && /^({\w*})?\/\w/.test(to)) return [verb, to.replace(/^{\w*}/, '')];
  }
  if (depth) return;
  for (const call of called.filter((one) => ts.isIdentifier(one.expression))) {
    const name = call.expression.text;
    const from = code.getSourceFile().statements.find((one) => ts.isImportDeclaration(one) && one.importClause?.namedBindings?.elements?.some((e) => e.name.text === name));
    if (!from?.moduleSpecifier.text.startsWith('.')) continue;
    const other = parse(path.resolve(path.dirname(code.getSourceFile().fileName), from.moduleSpecifier.text));
    const found = other.statements.find((one) => ts.isFunctionDeclaration(one) && one.name?.text === name);
    const sent = found && request(found, depth + 1);
    if (sent) return sent;
  }
}

// requests returns the verb and path of each method of a file's classes.
function requests(file) {
  const out = new Map();
  for (const owner of descendants(parse(file))) {
    if (!ts.isClassLike(owner)) continue;
    for (const method of owner.members.filter(ts.isMethodDeclaration)) {
      const sent = request(method);
      if (sent) out.set(`${owner.name?.text}.${method.name.getText()}`, sent);
    }
  }
  return out;
}

// members returns the names and types of the members of the objects that a type allows. What arrays hold doesn't count, nor
// do the options of the transport.
function members(checker, type, at, into = new Map()) {
  const compound = type.isUnion() || type.isIntersection() && !type.types.some((one) => one.flags & ts.TypeFlags.StringLike); // string & {}
  if (compound) type.types.forEach((one) => members(checker, one, at, into));
  else if (type.flags & ts.TypeFlags.Object && !checker.isArrayType(type) && !type.getCallSignatures().length && !type.getProperty('maxRetries')) {
    for (const one of checker.getPropertiesOfType(type)) {
      into.set(one.name, [...(into.get(one.name) ?? []), checker.getTypeOfSymbolAtLocation(one, at)]);
    }
  }
  return into;
}

const out = [];
for (const [name, prefix, dir] of [['openai', '/v1', 'resources'], ['@anthropic-ai/sdk', '', 'resources'], ['ollama', '', 'dist']]) {
  const root = path.join(folder, name);
  const sdk = `${name} ${JSON.parse(readFileSync(path.join(root, 'package.json'))).version} (JavaScript)`;
  const roots = files(path.join(root, dir));
  const program = ts.createProgram(roots, {
    strict: true, noEmit: true, skipLibCheck: true, module: ts.ModuleKind.NodeNext, moduleResolution: ts.ModuleResolutionKind.NodeNext, target: ts.ScriptTarget.ESNext,
  });
  const checker = program.getTypeChecker();
  const before = out.length;
  for (const file of roots) {
    const sent = requests(file.replace(/\.d\.ts$/, '.mjs'));
    for (const owner of descendants(program.getSourceFile(file))) {
      if (!ts.isClassLike(owner)) continue;
      for (const method of owner.members.filter(ts.isMethodDeclaration)) {
        const to = sent.get(`${owner.name?.text}.${method.name.getText()}`);
        if (!to) continue;
        const fields = {};
        for (const one of method.parameters.filter((p) => /^(body|query|params|request)$/.test(p.name.getText()))) {
          for (const [field, types] of members(checker, checker.getTypeAtLocation(one), method)) {
            if (to[1].includes(`{${field}}`)) continue;
            const inner = new Map();
            types.forEach((type) => members(checker, type, method, inner));
            fields[field] = [...new Set([...(fields[field] ?? []), ...inner.keys()])].sort();
          }
        }
        out.push({ sdk, method: to[0], path: prefix + to[1].replace(/{\w*}/g, '{}'), fields });
      }
    }
  }
  if (!out.slice(before).some((one) => Object.keys(one.fields).length)) throw new Error(`no methods of ${name} were found`);
}
console.log(JSON.stringify(out));
