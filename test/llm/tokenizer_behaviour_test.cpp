// What tokenizers promise beside the tokens: errors, characters in streams, lookups, lengths.
#include <torch/llm.h>

#include <catch2/catch.hpp>

#include <string>

namespace {

using torch::llm::DecodeStream;
using torch::llm::Tokenizer;
using torch::llm::TokenizerParts;

const std::string kFolder = std::string(TEST_LLM_DATA) + "/tokenizers/";

/// A tokenizer of words with other members of tokenizer.json.
std::string words_json(const std::string& members) {
  return R"({"model":{"type":"WordLevel","unk_token":"?","vocab":{"?":0,"a":1,"b":2,"c":3}},)"
         R"("pre_tokenizer":{"type":"WhitespaceSplit"})" +
      members + "}";
}

/// A byte-level vocabulary: the alphabet's 256 characters, then merges.
TokenizerParts bytes_parts() {
  TokenizerParts parts;
  for (int byte = 0; byte < 256; ++byte) {
    const bool own = (byte >= '!' && byte <= '~') || (byte >= 0xa1 && byte <= 0xac) || byte >= 0xae;
    static int next = 0;
    next = byte == 0 ? 0x100 : next;
    const int code = own ? byte : next++;
    std::string token;
    if (code < 0x80) {
      token = static_cast<char>(code);
    } else {
      token = {static_cast<char>(0xc0 | code >> 6), static_cast<char>(0x80 | (code & 0x3f))};
    }
    parts.tokens.push_back(token);
  }
  return parts;
}

} // namespace

TEST_CASE("encode refuses text that is not UTF-8", "[llm][tokenizer]") {
  const Tokenizer tokenizer = Tokenizer::load(kFolder + "gpt2.json");
  for (const char* text : {"\xff", "a\xc3", "\xed\xa0\x80", "\xf4\x90\x80\x80", "\xc0\x80"}) {
    CHECK_THROWS_WITH(tokenizer.encode(text), Catch::Contains("must be valid UTF-8"));
  }
  CHECK(tokenizer.encode("").empty());
}

TEST_CASE("a stream gives whole characters, as soon as they are complete", "[llm][tokenizer]") {
  const Tokenizer tokenizer = Tokenizer::from_parts(bytes_parts());
  DecodeStream stream(tokenizer);
  CHECK(stream.step('a') == "a");
  CHECK(stream.step(0xf0).empty());
  CHECK(stream.step(0x9f).empty());
  CHECK(stream.step(0x99).empty());
  CHECK(stream.step(0x82) == "\xf0\x9f\x99\x82");
  SECTION("what cannot become a character is replaced at once") {
    CHECK(stream.step(0xff) == "\xef\xbf\xbd");
    CHECK(stream.step('b') == "b");
  }
  SECTION("a character that is cut off is replaced") {
    CHECK(stream.step(0xe2).empty());
    CHECK(
        stream.step('b') ==
        "\xef\xbf\xbd"
        "b");
  }
  SECTION("finish gives the rest") {
    CHECK(stream.step(0xe2).empty());
    CHECK(stream.finish() == "\xef\xbf\xbd");
    CHECK(stream.step('c') == "c");
  }
  SECTION("ids without a token give nothing") {
    CHECK(stream.step(1000).empty());
    CHECK(stream.step(-1).empty());
  }
}

TEST_CASE("merges of GGUF-like parts are applied in their order", "[llm][tokenizer]") {
  TokenizerParts parts = bytes_parts();
  parts.tokens.insert(parts.tokens.end(), {"he", "ll", "hell", "\xc4\xa0hell", "<end>"});
  parts.types.assign(parts.tokens.size(), TokenizerParts::TokenType::Normal);
  parts.types.back() = TokenizerParts::TokenType::Control;
  parts.merges = {"h e", "l l", "he ll", "\xc4\xa0 hell"};
  parts.before = {260};
  const Tokenizer tokenizer = Tokenizer::from_parts(parts);
  CHECK(tokenizer.encode("hello hello") == std::vector<int64_t>{260, 258, 'o', 259, 'o'});
  CHECK(tokenizer.encode("hello<end>", false) == std::vector<int64_t>{258, 'o', 260});
  CHECK(tokenizer.decode({260, 258, 'o'}) == "hello");
  CHECK(tokenizer.decode({260, 258, 'o'}, false) == "<end>hello");
  parts.merges.push_back("q zz");
  CHECK_THROWS_WITH(Tokenizer::from_parts(parts), Catch::Contains("which the vocabulary does not have"));
}

TEST_CASE("lookups know model tokens and added ones", "[llm][tokenizer]") {
  const Tokenizer tokenizer = Tokenizer::from_json(words_json(
      R"(,"added_tokens":[{"id":7,"content":"<s>","special":true},{"id":8,"content":"TOOL","special":false}])"));
  CHECK(tokenizer.vocab_size() == 6);
  CHECK(tokenizer.token_to_id("b") == 2);
  CHECK(tokenizer.token_to_id("<s>") == 7);
  CHECK_FALSE(tokenizer.token_to_id("d"));
  CHECK(tokenizer.id_to_token(8) == "TOOL");
  CHECK_FALSE(tokenizer.id_to_token(5));
  CHECK(tokenizer.is_special(7));
  CHECK_FALSE(tokenizer.is_special(8));
  CHECK(tokenizer.encode("a TOOLb<s>") == std::vector<int64_t>{1, 8, 2, 7});
  CHECK(tokenizer.decode({7, 1, 99, 8, 2}) == "a TOOL b");
}

TEST_CASE("batches are truncated and padded as the file says", "[llm][tokenizer]") {
  const Tokenizer tokenizer = Tokenizer::from_json(words_json(
      R"(,"truncation":{"direction":"Left","max_length":4,"strategy":"LongestFirst","stride":0},)"
      R"("padding":{"strategy":"BatchLongest","direction":"Right","pad_to_multiple_of":null,"pad_id":9,"pad_type_id":3,"pad_token":"p"})"));
  const auto batch = tokenizer.encode_batch({"a b c a b", "c", ""});
  REQUIRE(batch.size() == 3);
  CHECK(batch[0].ids == std::vector<int64_t>{2, 3, 1, 2});
  CHECK(batch[1].ids == std::vector<int64_t>{3, 9, 9, 9});
  CHECK(batch[1].attention_mask == std::vector<uint8_t>{1, 0, 0, 0});
  CHECK(batch[1].type_ids == std::vector<int64_t>{0, 3, 3, 3});
  CHECK(batch[2].ids == std::vector<int64_t>{9, 9, 9, 9});
}

TEST_CASE("what a file asks for and is not there is named", "[llm][tokenizer]") {
  const auto [members, words] = GENERATE(table<std::string, std::string>({
      {R"(,"normalizer":{"type":"Fancy"})", "normalizer type 'Fancy' is not supported"},
      {R"(,"decoder":{"type":"Fancy"})", "decoder type 'Fancy' is not supported"},
      {R"(,"post_processor":{"type":"Fancy"})", "post-processor type 'Fancy' is not supported"},
      {R"(,"normalizer":{"type":"Replace","pattern":{"Regex":"(a"},"content":""})", "offset 2"},
      {R"(,"normalizer":{"type":"Replace","pattern":{"Regex":"[a"},"content":""})", "has no end"},
      {R"(,"normalizer":{"type":"Precompiled","precompiled_charsmap":"AAAA!"})", "base64"},
      {R"(,"truncation":{"max_length":4,"strategy":"Fancy"})", "strategy 'Fancy'"},
      {R"(,"added_tokens":[{"id":-1,"content":"x"}])", "'id' must be an integer"},
      {R"(,"added_tokens":{})", "expected an array"},
  }));
  CHECK_THROWS_WITH(Tokenizer::from_json(words_json(members)), Catch::Contains(words));
  CHECK_THROWS_WITH(Tokenizer::from_json("{}"), Catch::Contains("has no 'model'"));
  CHECK_THROWS_WITH(Tokenizer::from_json("[]"), Catch::Contains("must hold an object"));
  CHECK_THROWS_WITH(Tokenizer::from_json(R"({"model":{"type":"Neural","vocab":{}}})"), Catch::Contains("'Neural'"));
  CHECK_THROWS_WITH(
      Tokenizer::from_json(R"({"model":{"type":"BPE","vocab":{"a":0},"merges":[],"dropout":0.1}})"),
      Catch::Contains("'dropout' is 0.1"));
  CHECK_THROWS_WITH(Tokenizer::load("/nowhere"), Catch::Contains("/nowhere"));
  CHECK_THROWS_WITH(Tokenizer::from_sentencepiece("\x0a\x05xyz"), Catch::Contains("protocol buffer"));
}

TEST_CASE("rules that let a text grow without end are refused", "[llm][tokenizer]") {
  std::string steps;
  for (int i = 0; i < 40; ++i) {
    steps += std::string(i > 0 ? "," : "") + R"({"type":"Replace","pattern":{"String":"a"},"content":"aa"})";
  }
  const Tokenizer tokenizer =
      Tokenizer::from_json(words_json(R"(,"normalizer":{"type":"Sequence","normalizers":[)" + steps + "]}"));
  CHECK_THROWS_WITH(tokenizer.encode("a"), Catch::Contains("normalization makes more than"));
}

TEST_CASE("a pattern that backtracks without end is stopped", "[llm][tokenizer]") {
  const Tokenizer tokenizer = Tokenizer::from_json(
      words_json(R"(,"normalizer":{"type":"Replace","pattern":{"Regex":"(?:a|aa)+$"},"content":""})"));
  CHECK_THROWS_WITH(tokenizer.encode(std::string(60, 'a') + "b"), Catch::Contains("match limit exceeded"));
}
