// Programs that parse sources, walk their trees, build trees, and define functions from them.
#include <catch2/catch.hpp>

#include <torch/csrc/jit/frontend/parser.h>
#include <torch/csrc/jit/frontend/resolver.h>
#include <torch/csrc/jit/frontend/script_type_parser.h>
#include <torch/csrc/jit/frontend/tree_views.h>
#include <torch/script.h>

#include <sstream>
#include <string>
#include <vector>

using namespace torch::jit;
using Catch::Matchers::Contains;

namespace {

Def parsed(const std::string& source) {
  Parser parser(std::make_shared<Source>(source, "<string>", 1));
  Def function(parser.parseFunction(/*is_method=*/false));
  CHECK(parser.lexer().cur().kind == TK_EOF);
  return function;
}

Expr expression(const std::string& source) {
  return Parser(std::make_shared<Source>(source)).parseExp();
}

std::string text(const TreeRef& tree) {
  std::ostringstream out;
  out << pretty_tree(tree, 200);
  std::string line = out.str();
  CHECK(line.back() == '\n');
  line.pop_back();
  return line;
}

Function* define(const std::shared_ptr<CompilationUnit>& unit, const Def& function) {
  return unit->define(std::nullopt, {}, {}, {function}, {nativeResolver()}, nullptr).at(0);
}

// The names of functions that are called, in the order of the source.
void collect_calls(const TreeRef& tree, std::vector<std::string>& names) {
  if (tree->kind() == TK_APPLY && Apply(tree).callee().kind() == TK_VAR) {
    names.push_back(Var(Apply(tree).callee()).name().name());
  }
  for (const TreeRef& each : tree->trees()) {
    collect_calls(each, names);
  }
}

} // namespace

TEST_CASE("A definition is taken apart by views", "[jit][frontend]") {
  const Def function = parsed(R"(
def f(x, n: int = 2, *, flag: bool = False) -> Tensor:
    y = x
    for i, j in pairs:
        y += i
    if flag:
        return y
    else:
        y[0, 1:] = -1.5
    with region(), other() as o:
        pass
    return
)");
  CHECK(function.name().name() == "f");
  const List<Param> params = function.decl().params();
  REQUIRE(params.size() == 3);
  CHECK_FALSE(params[0].type().present());
  CHECK(Var(params[1].type().get()).name().name() == "int");
  CHECK(Const(params[1].defaultValue().get()).asIntegral() == 2);
  CHECK_FALSE(params[1].kwarg_only());
  CHECK(params[2].kwarg_only());
  CHECK(Var(function.decl().return_type().get()).name().name() == "Tensor");

  const List<Stmt> body = function.statements();
  REQUIRE(body.size() == 5);
  CHECK(Var(Assign(body[0]).lhs()).name().name() == "y");
  const For loop(body[1]);
  CHECK(loop.targets().size() == 2);
  CHECK(loop.itrs().size() == 1);
  CHECK(AugAssign(loop.body()[0]).aug_op() == '+');
  const If branch(body[2]);
  CHECK(branch.cond().kind() == TK_VAR);
  CHECK(Return(branch.trueBranch()[0]).expr().kind() == TK_VAR);
  const Assign element(branch.falseBranch()[0]);
  const Subscript subscript(element.lhs());
  CHECK(subscript.subscript_exprs().size() == 2);
  const SliceExpr slice(subscript.subscript_exprs()[1]);
  CHECK(Const(slice.startOr(7)).asIntegral() == 1);
  CHECK(Const(slice.endOr(7)).asIntegral() == 7);
  CHECK(Const(element.rhs().get()).asFloatingPoint() == -1.5);
  const With with(body[3]);
  CHECK(with.targets().size() == 2);
  CHECK_FALSE(with.targets()[0].var().present());
  CHECK(with.targets()[1].var().get().name().name() == "o");
  CHECK(Return(body[4]).expr().kind() == TK_NONE);
  CHECK(branch.range().str().find("flag") != std::string::npos);
}

TEST_CASE("Trees are printed as S-expressions", "[jit][frontend]") {
  CHECK(text(expression("a + b * 2")) == "(+ (variable (ident a)) (* (variable (ident b)) (const 2)))");
  CHECK(text(expression("not x is None")) == "(not (is (variable (ident x)) (None)))");
  CHECK(text(expression("x not in y")) == "(not (in (variable (ident x)) (variable (ident y))))");
  CHECK(
      text(expression("f(1, k='s').m")) ==
      "(. (apply (variable (ident f)) (list (const 1)) (list (attribute (ident k) (string_literal s)))) (ident m))");
  CHECK(
      text(expression("{1: [2], 3: ()}")) ==
      "(dict-literal (list (const 1) (const 3)) (list (list-literal (list (const 2))) (tuple-literal (list))))");
  CHECK(
      text(expression("[i for i in x] if c else ...")) ==
      "(if (variable (ident c)) (list comprehension (variable (ident i)) (variable (ident i)) (variable (ident x))) "
      "(dots))");
  std::ostringstream folded;
  folded << expression("first_name + second_name").get();
  CHECK(folded.str() == "(+\n  (variable (ident first_name))\n  (variable (ident second_name)))\n");
}

TEST_CASE("Trees that were parsed, changed or built are compiled", "[jit][frontend]") {
  const auto unit = std::make_shared<CompilationUnit>();
  const Def function = parsed(R"(
def f(words: List[str], n: int = 3) -> Dict[str, int]:
    counts: Dict[str, int] = {}
    for i, word in enumerate(words):
        if word not in counts and not (i > n):
            counts[word] = 0
        elif i > n:
            break
        counts[word] += 1 if i % 2 == 0 else -2
    a = b = {w: len(w) for w in words}
    assert len(a) == len(b), "same"
    del a
    while False:
        continue
    return counts
)");
  Function* original = define(unit, function);
  const c10::List<std::string> words({"a", "b", "a"});
  CHECK(original->getSchema().arguments()[1].default_value()->toInt() == 3);
  CHECK((*original)({words, 3}).toGenericDict().at("a").toInt() == 2);

  // Another name, and the first statement behind itself once more.
  std::vector<Stmt> statements;
  for (const Stmt statement : function.statements()) {
    statements.push_back(statement);
  }
  statements.insert(statements.begin(), statements[0]);
  const List<Stmt> twice = List<Stmt>::create(function.range(), statements);
  const Def changed = Def::create(function.range(), Ident::create(function.range(), "g"), function.decl(), twice);
  CHECK((*define(unit, changed))({words, 3}).toGenericDict().at("b").toInt() == -2);

  // return x * 2 + len([1])
  const SourceRange range = function.range();
  const auto var = [&](const char* name) { return Var::create(range, Ident::create(range, name)); };
  const Expr product = BinOp::create(range, '*', var("x"), Const::create(range, "2"));
  const Expr list = ListLiteral::create(range, List<Expr>::create(range, {Const::create(range, "1")}));
  const Expr length =
      Apply::create(range, var("len"), List<Expr>::create(range, {list}), List<Attribute>::create(range, {}));
  const Stmt result = Return::create(range, BinOp::create(range, '+', product, length));
  const Param x = Param::create(
      range, Ident::create(range, "x"), Maybe<Expr>::create(range, var("int")), Maybe<Expr>::create(range), false);
  const Decl decl = Decl::create(range, List<Param>::create(range, {x}), Maybe<Expr>::create(range));
  const Def built = Def::create(range, Ident::create(range, "h"), decl, List<Stmt>::create(range, {result}));
  CHECK((*define(unit, built))({20}).toInt() == 41);
  std::vector<std::string> names;
  collect_calls(built, names);
  CHECK(names == std::vector<std::string>{"len"});

  CHECK_THROWS_WITH(define(unit, built), Contains("already defined"));
  CHECK(
      unit->define(std::nullopt, {}, {}, {built}, {nativeResolver()}, nullptr, /*shouldMangle=*/true)[0]
          ->qualname()
          .qualifiedName() == "___torch_mangle_0.h");
}

TEST_CASE("Trees of the wrong kind are refused", "[jit][frontend]") {
  const Expr sum = expression("a + b");
  CHECK_THROWS_WITH(Def(sum), Contains("expecting kind 'def' but found '+'"));
  CHECK_THROWS_AS(Stmt(sum), ErrorReport);
  CHECK_THROWS_WITH(Stmt(sum), Contains("+ is not a valid Stmt"));
  CHECK_THROWS_WITH(Expr(String::create("x")), Contains("string is not a valid Expr"));
  CHECK_THROWS_AS(List<Expr>(sum), c10::Error);
  CHECK_THROWS_WITH(sum.get()->tree(2), Contains("has none at 2"));
  CHECK_THROWS_WITH(BinOp(Compound::create('+', sum.range(), {sum})), Contains("must have 2 subtrees"));
  CHECK_THROWS_WITH(Compound::create('+', sum.range(), {TreeRef()}), Contains("is null"));
  CHECK_THROWS_WITH(Maybe<Expr>::create(sum.range()).get(), Contains("has none at 0"));
  CHECK_THROWS_WITH(String::create("x")->range(), Contains("no range"));
  CHECK_THROWS_AS(expression("a +"), c10::Error);
  CHECK(kindToString(TK_FLOOR_DIV) == "floordiv");
  CHECK(stringToKind("**") == TK_POW);
  CHECK_THROWS_AS(kindToString(99999), c10::Error);
  CHECK_THROWS_AS(stringToKind("word"), c10::Error);
  const auto unit = std::make_shared<CompilationUnit>();
  const Def broken = Def(Compound::create(TK_DEF, sum.range(), {Ident::create(sum.range(), "f"), sum, sum}));
  CHECK_THROWS_AS(define(unit, broken), c10::Error);
  CHECK(unit->get_functions().empty());
}

TEST_CASE("Trees with long chains and deep nesting do not exhaust the stack", "[jit][frontend]") {
  Expr chain = expression("a");
  for (int i = 0; i < 200000; ++i) {
    chain = BinOp::create(chain.range(), '+', chain, chain.kind() == TK_VAR ? chain : BinOp(chain).rhs());
  }
  std::ostringstream out;
  CHECK_THROWS_WITH(out << chain.get(), Contains("nested too deeply"));
  const Stmt result = Return::create(chain.range(), chain);
  const Def function = parsed("def f(a: int):\n    pass\n");
  const Def deep =
      Def::create(function.range(), function.name(), function.decl(), List<Stmt>::create(chain.range(), {result}));
  CHECK_THROWS_WITH(define(std::make_shared<CompilationUnit>(), deep), Contains("nested too deeply"));
}

TEST_CASE("Types, signatures and constants are read from trees", "[jit][frontend]") {
  const ScriptTypeParser types;
  CHECK(types.parseTypeFromExpr(expression("Dict[str, List[int]]"))->annotation_str() == "Dict[str, List[int]]");
  CHECK(*types.parseType("Optional[Tensor]") == *c10::OptionalType::ofTensor());
  CHECK(types.parseBroadcastList(expression("BroadcastingList2[int]"))->second == 2);
  CHECK_THROWS_AS(types.parseTypeFromExpr(expression("1 + 2")), ErrorReport);
  const Def method = parsed("def f(self, x, n: int = 2 * 3) -> float:\n    return 1.\n");
  const c10::FunctionSchema schema = types.parseSchemaFromDef(method, /*skip_self=*/true);
  REQUIRE(schema.arguments().size() == 2);
  CHECK(schema.arguments()[1].default_value()->toInt() == 6);
  CHECK(schema.returns()[0].type()->kind() == c10::TypeKind::FloatType);
  const Def constants = parsed("def f():\n    a : Final[Tuple[int, str]] = (1, 'x')\n");
  CHECK(types.parseClassConstant(Assign(constants.statements()[0])).toTuple()->elements()[1].toStringRef() == "x");
  CHECK(get_pep604_union_members(expression("int | str | None")).size() == 3);
  CHECK(
      text(pep604union_to_union(expression("int | None"))) ==
      "(subscript (variable (ident Union)) (list (variable (ident int)) (None)))");

  Parser parser(std::make_shared<Source>("# type: (int, str) -> float"));
  const Decl comment = parser.parseTypeComment();
  const Decl merged = mergeTypesFromTypeComment(parsed("def f(self, a, b):\n    pass\n").decl(), comment, true);
  CHECK(Var(merged.params()[2].type().get()).name().name() == "str");
  CHECK_FALSE(merged.params()[0].type().present());
  CHECK_THROWS_WITH(
      mergeTypesFromTypeComment(parsed("def f(a):\n    pass\n").decl(), comment, false),
      Contains("Number of type annotations (2)"));
}
