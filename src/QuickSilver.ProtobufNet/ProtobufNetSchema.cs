using System.Collections.Immutable;
using System.Diagnostics.CodeAnalysis;
using ProtoBuf.Meta;
using QuickSilver.Serialization;

namespace QuickSilver.ProtobufNet;

// The schema of what protobuf-net writes, in the words of generated codecs, so that the two match where their bytes do. It reads
// protobuf-net's model, which has the attributes, the options of the model, and what the program configured. What no generated codec
// writes has a word of its own; what would lose values is refused.
[RequiresUnreferencedCode("Members are found by reflection.")]
[RequiresDynamicCode("protobuf-net emits code at run time.")]
internal sealed class ProtobufNetSchema
{
    private readonly RuntimeTypeModel _model = RuntimeTypeModel.Default;
    private readonly MemberWords _words;
    private readonly ModelProblems _problems;
    private readonly DisplayData _display = new();

    // Each message type once, numbered in the order of its first occurrence.
    private readonly List<MetaType> _messages = [];

    private ProtobufNetSchema()
    {
        _words = new MemberWords(_model);
        _problems = new ModelProblems(_model);
    }

    /// <exception cref="NotSupportedException">protobuf-net cannot serialize the type, or would lose values of it.</exception>
    public static PayloadSchema Of(Type type)
    {
        var schema = new ProtobufNetSchema();
        var described = schema.Describe(type);
        schema._problems.ThrowIfAny(type);
        return described;
    }

    private PayloadSchema Describe(Type type)
    {
        string name = ContractAttributes.NameOf(type) ?? type.FullName?.Replace('+', '.') ?? type.Name;
        if (!_words.IsMessage(type))
        {
            // A number, a text or a collection is the first field of a message.
            var (word, held) = _words.OfType(type);
            if (word is null)
            {
                _problems.AddUnknown(type.Name, type);
                return Schema(name, static () => []);
            }

            return Schema(name, () => [_display.Of(new PayloadField(1, "value", word) { Message = NumberOf(held) }, type)]);
        }

        var root = RootOf(_model[type]);
        NumberOf(root);
        return Schema(name, () => FieldsOf(root));
    }

    private PayloadSchema Schema(string name, Func<ImmutableArray<PayloadField>> fieldsOf)
    {
        if (_messages.Count == 0)
        {
            // Number 0 is the payload itself, which here is not one of the model's messages.
            _messages.Add(null!);
        }

        var fields = fieldsOf();
        var nested = ImmutableArray.CreateBuilder<PayloadMessage>();
        // The list grows as its messages are found to hold others.
        for (int message = 1; message < _messages.Count; message++)
        {
            var held = _messages[message];
            nested.Add(new PayloadMessage(ContractAttributes.NameOf(held.Type) ?? held.Type.Name, FieldsOf(held)));
        }

        return new PayloadSchema(name, PayloadSchema.MessageKind, fields)
        {
            Nested = nested.DrainToImmutable(),
            Enums = _display.Enums,
        };
    }

    private int? NumberOf(Type? message) => message is null ? null : NumberOf(RootOf(_model[message]));

    private int NumberOf(MetaType message)
    {
        int number = _messages.IndexOf(message);
        if (number >= 0)
        {
            return number;
        }

        _messages.Add(message);
        return _messages.Count - 1;
    }

    // A value of a subtype is written as a message of its base, in which the subtype is a field.
    private MetaType RootOf(MetaType type)
    {
        var at = ModelInternals.SurrogateOf(type) is { } surrogate ? _model[surrogate] : type;
        while (at.BaseType is { } parent)
        {
            at = parent;
        }

        return at;
    }

    private ImmutableArray<PayloadField> FieldsOf(MetaType type)
    {
        _problems.Check(type);
        var fields = new List<PayloadField>();
        foreach (var member in type.GetFields().OrderBy(static member => member.FieldNumber))
        {
            var (word, held) = _words.OfMember(member);
            if (word is null)
            {
                _problems.AddUnknown($"{type.Type.Name}.{member.Member.Name}", member.ItemType ?? member.MemberType);
                continue;
            }

            fields.Add(_display.Of(new PayloadField(member.FieldNumber, member.Name, word) { Message = NumberOf(held) }, member));
        }

        foreach (var subtype in type.GetSubtypes())
        {
            var derived = subtype.DerivedType;
            fields.Add(new PayloadField(subtype.FieldNumber, derived.Type.Name, SubtypeWord(type))
            {
                Message = NumberOf(derived),
                LogicalType = LogicalType.Subtype,
                IsNullable = true,
            });
        }

        return [.. fields.OrderBy(static field => field.Number)];
    }

    // A generated codec writes inherited members within the subtype's message, protobuf-net beside it: the same if there are none.
    private static string SubtypeWord(MetaType type)
    {
        for (var at = type; at is not null; at = at.BaseType)
        {
            if (at.GetFields().Length > 0)
            {
                return $"message [members of {at.Type.Name} are beside it]";
            }
        }

        return type.BaseType is null ? "message" : "message [subtype of a subtype]";
    }
}
