//===- NpyHeader.cpp - The header of a NumPy .npy file ----------*- C++ -*-===//
//
// Two halves: a recursive-descent reader for the few Python literals a header
// holds, and the meaning of those literals as a type and a shape.
//
//===----------------------------------------------------------------------===//

#include "lib/Runtime/NpyHeader.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/SwapByteOrder.h"
#include "llvm/Support/raw_ostream.h"

#include <utility>

using namespace tilec;

static constexpr llvm::StringLiteral magic = "\x93NUMPY";

static llvm::Error fileError(llvm::StringRef path, const llvm::Twine &cause,
                             const llvm::Twine &help) {
  return llvm::createStringError(path + ": " + cause + "\nhelp: " + help);
}

//===----------------------------------------------------------------------===//
// Prefix
//===----------------------------------------------------------------------===//

/// The first bytes of something else, in hexadecimal, and a guess at what.
static llvm::Error notNpy(llvm::StringRef bytes, llvm::StringRef path) {
  std::string found = bytes.empty() ? "an empty file" : "";
  for (char byte : bytes.take_front(6))
    found += (found.empty() ? "" : " ") +
             llvm::utohexstr(static_cast<uint8_t>(byte), /*LowerCase=*/true,
                             /*Width=*/2);
  llvm::StringRef help = "write the file with numpy.save";
  if (bytes.starts_with("PK"))
    help = "this looks like an .npz archive; unpack it with unzip and name one "
           "of the .npy files in it";
  return fileError(path,
                   "expected a .npy file (first bytes 93 4e 55 4d 50 59), "
                   "found " +
                       found,
                   help);
}

llvm::Expected<NpyPrefix> tilec::parseNpyPrefix(llvm::StringRef bytes,
                                                uint64_t fileBytes,
                                                llvm::StringRef path) {
  auto truncated = [&](uint64_t needed) {
    return fileError(path,
                     "truncated header: expected " + llvm::Twine(needed) +
                         " bytes, found " + llvm::Twine(fileBytes),
                     "write the file again; it was probably cut short");
  };
  if (!bytes.starts_with(magic)) {
    if (!bytes.empty() && magic.starts_with(bytes))
      return truncated(10);
    return notNpy(bytes, path);
  }
  if (bytes.size() < 8)
    return truncated(10);
  unsigned major = static_cast<uint8_t>(bytes[6]);
  unsigned minor = static_cast<uint8_t>(bytes[7]);
  if (major < 1 || major > 3 || minor != 0)
    return fileError(path,
                     "expected .npy version 1.0, 2.0 or 3.0, found " +
                         llvm::Twine(major) + "." + llvm::Twine(minor),
                     "write the file again with numpy.save");
  uint64_t textOffset = major == 1 ? 10 : 12;
  if (bytes.size() < textOffset)
    return truncated(textOffset);
  uint64_t textBytes = major == 1
                           ? llvm::support::endian::read16le(bytes.data() + 8)
                           : llvm::support::endian::read32le(bytes.data() + 8);
  if (textBytes > npyMaxHeaderBytes)
    return fileError(path,
                     "expected a header of at most " +
                         llvm::Twine(npyMaxHeaderBytes) + " bytes, found " +
                         llvm::Twine(textBytes),
                     "the file is damaged, or its element type is a structure "
                     "of very many fields; write a plain array");
  if (textBytes > fileBytes - textOffset)
    return truncated(textOffset + textBytes);
  return NpyPrefix{major, textOffset, textBytes};
}

//===----------------------------------------------------------------------===//
// Dictionary
//===----------------------------------------------------------------------===//

namespace {

/// What `descr` says, before the caller's expectation.
struct ElementType {
  std::optional<DType> dtype; // named by descr
  char kind = 0;              // 'f', 'i', 'u', 'b', 'V'
  unsigned bytes = 0;
  bool bigEndian = false;
};

class HeaderParser {
public:
  HeaderParser(llvm::StringRef text, NpyPrefix prefix, llvm::StringRef path,
               std::optional<DType> expected)
      : text(text), prefix(prefix), path(path), expected(expected) {}

  llvm::Expected<NpyHeader> parse();

private:
  /// `at` is an offset into the text; the message has the one into the file,
  /// where a hex editor will find it.
  llvm::Error malformed(const llvm::Twine &what, size_t at);
  llvm::Error malformed(const llvm::Twine &what) {
    return malformed(what, pos);
  }

  void skipSpace() {
    while (pos < text.size() && llvm::isSpace(text[pos]))
      ++pos;
  }
  bool consume(char c) {
    skipSpace();
    if (pos == text.size() || text[pos] != c)
      return false;
    ++pos;
    return true;
  }
  bool consumeWord(llvm::StringRef word) {
    skipSpace();
    if (!text.substr(pos).starts_with(word))
      return false;
    pos += word.size();
    return true;
  }

  llvm::Error parseString(std::string &value, llvm::StringRef what);
  llvm::Error parseEntry();
  llvm::Error parseDescr();
  llvm::Error parseFortranOrder();
  llvm::Error parseShape();
  llvm::Error parseExtent(int64_t &extent);

  llvm::Error interpretDescr(ElementType &type);
  llvm::Error chooseDType(const ElementType &type);
  llvm::Error computeSize();

  llvm::StringRef text;
  NpyPrefix prefix;
  llvm::StringRef path;
  std::optional<DType> expected;
  size_t pos = 0;
  bool sawDescr = false, sawFortranOrder = false, sawShape = false;
  NpyHeader header;
};

} // namespace

llvm::Error HeaderParser::malformed(const llvm::Twine &what, size_t at) {
  std::string found = "the end of the header";
  if (at < text.size()) {
    // Quoted from a file that may hold anything.
    llvm::raw_string_ostream os(found = "'");
    llvm::printEscapedString(text.substr(at).take_front(16), os);
    os << "'";
  }
  return fileError(path,
                   "malformed header at byte " +
                       llvm::Twine(prefix.textOffset + at) + ": expected " +
                       what + ", found " + found,
                   "write the file again with numpy.save");
}

llvm::Error HeaderParser::parseString(std::string &value,
                                      llvm::StringRef what) {
  skipSpace();
  size_t begin = pos;
  if (!consume('\'') && !consume('"'))
    return malformed(what);
  char quote = text[pos - 1];
  size_t end = text.find(quote, pos);
  if (end == llvm::StringRef::npos)
    return malformed(what + " with a closing quote", begin);
  value = text.slice(pos, end).str();
  pos = end + 1;
  return llvm::Error::success();
}

llvm::Error HeaderParser::parseDescr() {
  skipSpace();
  if (pos < text.size() && (text[pos] == '[' || text[pos] == '('))
    return fileError(path,
                     "expected a plain element type, found a structured one at "
                     "byte " +
                         llvm::Twine(prefix.textOffset + pos),
                     "save one field of the array: numpy.save(path, "
                     "array['field'])");
  return parseString(header.descr, "an element type such as '<f4'");
}

llvm::Error HeaderParser::parseFortranOrder() {
  if (consumeWord("True"))
    header.fortranOrder = true;
  else if (!consumeWord("False"))
    return malformed("True or False");
  return llvm::Error::success();
}

llvm::Error HeaderParser::parseExtent(int64_t &extent) {
  skipSpace();
  size_t begin = pos;
  while (pos < text.size() && llvm::isDigit(text[pos]))
    ++pos;
  if (pos == begin)
    return malformed("an extent of 0 or more");
  if (text.slice(begin, pos).getAsInteger(10, extent))
    return malformed("an extent below 2^63", begin);
  // Python 2 wrote long integers as 3L.
  if (pos < text.size() && text[pos] == 'L')
    ++pos;
  return llvm::Error::success();
}

llvm::Error HeaderParser::parseShape() {
  if (!consume('('))
    return malformed("a shape such as (3, 4)");
  while (!consume(')')) {
    size_t begin = pos;
    int64_t extent;
    if (llvm::Error error = parseExtent(extent))
      return error;
    if (header.shape.size() == npyMaxRank)
      return malformed("at most " + llvm::Twine(npyMaxRank) + " dimensions",
                       begin);
    header.shape.push_back(extent);
    if (consume(','))
      continue;
    if (!consume(')'))
      return malformed("',' or ')'");
    // (3) is an integer in Python; the tuple is (3,).
    if (header.shape.size() == 1)
      return malformed("a shape of one extent written (" + llvm::Twine(extent) +
                           ",)",
                       begin);
    break;
  }
  return llvm::Error::success();
}

llvm::Error HeaderParser::parseEntry() {
  skipSpace();
  size_t begin = pos;
  std::string key;
  if (llvm::Error error = parseString(key, "a key in quotes"))
    return error;
  bool *seen = llvm::StringSwitch<bool *>(key)
                   .Case("descr", &sawDescr)
                   .Case("fortran_order", &sawFortranOrder)
                   .Case("shape", &sawShape)
                   .Default(nullptr);
  if (!seen)
    return malformed("'descr', 'fortran_order' or 'shape'", begin);
  if (std::exchange(*seen, true))
    return malformed("each key once", begin);
  if (!consume(':'))
    return malformed("':'");
  if (seen == &sawDescr)
    return parseDescr();
  if (seen == &sawShape)
    return parseShape();
  return parseFortranOrder();
}

llvm::Expected<NpyHeader> HeaderParser::parse() {
  if (!consume('{'))
    return malformed("'{'");
  while (!consume('}')) {
    if (llvm::Error error = parseEntry())
      return error;
    if (consume(','))
      continue;
    if (!consume('}'))
      return malformed("',' or '}'");
    break;
  }
  skipSpace();
  if (pos != text.size())
    return malformed("nothing but spaces after the dictionary");
  for (auto [key, seen] : {std::pair("descr", sawDescr),
                           std::pair("fortran_order", sawFortranOrder),
                           std::pair("shape", sawShape)})
    if (!seen)
      return fileError(path,
                       llvm::Twine("malformed header: expected the key '") +
                           key + "', found none",
                       "write the file again with numpy.save");

  ElementType type;
  if (llvm::Error error = interpretDescr(type))
    return error;
  if (llvm::Error error = chooseDType(type))
    return error;
  header.elementBytes = type.bytes;
  header.bigEndian = type.bigEndian;
  header.majorVersion = prefix.majorVersion;
  header.dataOffset = prefix.textOffset + prefix.textBytes;
  if (llvm::Error error = computeSize())
    return error;
  return std::move(header);
}

//===----------------------------------------------------------------------===//
// Meaning
//===----------------------------------------------------------------------===//

llvm::Error HeaderParser::interpretDescr(ElementType &type) {
  llvm::StringRef descr = header.descr;
  auto unsupported = [&](llvm::StringRef help) {
    std::string found;
    llvm::raw_string_ostream os(found);
    llvm::printEscapedString(descr.take_front(32), os);
    return fileError(path,
                     "expected an element type among f8, f4, f2, i8, i4, i2, "
                     "i1, u1, b1, and V2, V1 for bf16 and fp8, found '" +
                         found + "'",
                     help);
  };
  llvm::StringRef convert = "convert the array before saving it, as in "
                            "numpy.save(path, array.astype('float32'))";

  // The names that str(dtype) gives for the types of ml_dtypes.
  type.dtype = llvm::StringSwitch<std::optional<DType>>(descr)
                   .Case("bfloat16", DType::BF16)
                   .Case("float8_e4m3fn", DType::F8E4M3)
                   .Case("float8_e5m2", DType::F8E5M2)
                   .Default(std::nullopt);
  if (type.dtype) {
    type.kind = 'V';
    type.bytes = byteSize(*type.dtype);
    return llvm::Error::success();
  }

  llvm::StringRef rest = descr;
  type.bigEndian = rest.consume_front(">");
  if (!type.bigEndian && !rest.consume_front("<") && !rest.consume_front("|") &&
      rest.consume_front("="))
    type.bigEndian = llvm::sys::IsBigEndianHost;
  if (rest.starts_with("O"))
    return unsupported("an object array holds pickled Python objects, which "
                       "are never loaded; convert it to numbers first");
  if (rest.size() != 2 || !llvm::isDigit(rest[1]))
    return unsupported(convert);
  type.kind = rest[0];
  type.bytes = rest[1] - '0';
  type.dtype = llvm::StringSwitch<std::optional<DType>>(rest)
                   .Case("f8", DType::F64)
                   .Case("f4", DType::F32)
                   .Case("f2", DType::F16)
                   .Case("i8", DType::I64)
                   .Case("i4", DType::I32)
                   .Case("i2", DType::I16)
                   .Case("i1", DType::I8)
                   .Case("u1", DType::U8)
                   .Case("b1", DType::Bool)
                   .Default(std::nullopt);
  bool isRaw = llvm::StringSwitch<bool>(rest)
                   .Cases({"V2", "V1", "u2", "f1"}, true)
                   .Default(false);
  if (!type.dtype && !isRaw)
    return unsupported(convert);
  return llvm::Error::success();
}

llvm::Error HeaderParser::chooseDType(const ElementType &type) {
  header.dtype = type.dtype;
  if (!expected || type.dtype == expected)
    return llvm::Error::success();

  // f4 serves as tf32, rounded; raw and unsigned bytes as the narrow float of
  // their size that NumPy has no name for.
  bool isNameless = isNarrowFloat(*expected) && expected != DType::F16;
  bool isAllowed = (expected == DType::TF32 && type.dtype == DType::F32) ||
                   (isNameless && type.bytes == byteSize(*expected) &&
                    (type.dtype == DType::U8 || !type.dtype));
  if (isAllowed) {
    header.dtype = expected;
    return llvm::Error::success();
  }
  std::string found =
      type.dtype ? dtypeName(*type.dtype).str() : std::string("raw bytes");
  return fileError(path,
                   "expected elements of type " + dtypeName(*expected) +
                       ", found " + found + " ('" + header.descr + "')",
                   "convert the array before saving it, or declare the "
                   "argument with the type of the file");
}

llvm::Error HeaderParser::computeSize() {
  std::optional<int64_t> count = checkedNumElements(header.shape);
  int64_t bytes;
  if (!count ||
      __builtin_mul_overflow(*count, int64_t(header.elementBytes), &bytes))
    return fileError(
        path,
        "expected a size in bytes below 2^63, found shape [" +
            llvm::join(llvm::map_range(
                           header.shape,
                           [](int64_t extent) { return llvm::itostr(extent); }),
                       ", ") +
            "]",
        "the header is damaged; write the file again with "
        "numpy.save");
  header.numElements = *count;
  header.dataBytes = static_cast<uint64_t>(bytes);
  return llvm::Error::success();
}

llvm::Expected<NpyHeader>
tilec::parseNpyHeaderText(llvm::StringRef text, NpyPrefix prefix,
                          llvm::StringRef path, std::optional<DType> expected) {
  return HeaderParser(text, prefix, path, expected).parse();
}

//===----------------------------------------------------------------------===//
// Writing
//===----------------------------------------------------------------------===//

std::string tilec::npyDescr(DType dtype, bool bigEndian) {
  unsigned bytes = byteSize(dtype);
  char order = bytes == 1 ? '|' : bigEndian ? '>' : '<';
  char kind = isFloat(dtype)           ? 'f'
              : dtype == DType::Bool   ? 'b'
              : isSignedInteger(dtype) ? 'i'
                                       : 'u';
  if (isNarrowFloat(dtype) && dtype != DType::F16)
    kind = 'V';
  return (llvm::Twine(order) + llvm::Twine(kind) + llvm::Twine(bytes)).str();
}

std::string tilec::makeNpyHeader(DType dtype, llvm::ArrayRef<int64_t> shape,
                                 bool fortranOrder, bool bigEndian,
                                 unsigned majorVersion) {
  std::string dictionary;
  llvm::raw_string_ostream os(dictionary);
  os << "{'descr': '" << npyDescr(dtype, bigEndian)
     << "', 'fortran_order': " << (fortranOrder ? "True" : "False")
     << ", 'shape': (";
  llvm::interleaveComma(shape, os);
  os << (shape.size() == 1 ? ",), }" : "), }");

  size_t prefixBytes = majorVersion == 1 ? 10 : 12;
  // Padding includes at least the newline.
  size_t total = (prefixBytes + dictionary.size() + 1 + 63) / 64 * 64;
  dictionary.append(total - prefixBytes - dictionary.size() - 1, ' ');
  dictionary += '\n';

  std::string header = magic.str();
  header += static_cast<char>(majorVersion);
  header += '\0';
  for (size_t byte = 0; byte < prefixBytes - 8; ++byte)
    header += static_cast<char>(dictionary.size() >> (8 * byte));
  return header + dictionary;
}
