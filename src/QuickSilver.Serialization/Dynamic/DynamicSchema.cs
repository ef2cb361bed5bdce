using System.Collections.Immutable;

namespace QuickSilver.Serialization.Dynamic;

// A field as it is looked up: by number when reading, by name when writing.
internal sealed class DynamicField(PayloadField described, int index, DynamicMessage? message, DynamicEnum? of)
{
    public int Number => described.Number;

    public string Name => described.Name;

    /// <summary>The word of its type, for display.</summary>
    public string Type => described.Type;

    /// <summary>Its position among the fields of its message, by number.</summary>
    public int Index { get; } = index;

    public FieldForm Form { get; } = FieldForm.Of(described.Type);

    /// <summary>
    /// Whether a reader takes the default of its type for what did not come. Not of what may be null, of what has a default of its own, and
    /// of a message.
    /// </summary>
    public bool HasImplicitDefault => described.IsNullable == false
        && !FieldForm.IsConditional(described.Type)
        && Form is not { Shape: FieldShape.Single, Value: ValueForm.Unknown or ValueForm.Message };

    /// <summary>The message that it contains; null if it contains none, or one that is not described.</summary>
    public DynamicMessage? Message { get; } = message;

    /// <summary>What its value is in .NET, or the values of its collection; null if its form says it.</summary>
    public LogicalValue? Logical { get; } = LogicalValue.Of(described.LogicalType, of, FieldForm.Of(described.Type).Value);

    /// <summary>As <see cref="Logical"/>, of the keys of a map.</summary>
    public LogicalValue? LogicalKey { get; } = LogicalValue.Of(described.LogicalKeyType, null, FieldForm.Of(described.Type).Key);
}

internal sealed class DynamicMessage(string name)
{
    private readonly Dictionary<int, DynamicField> _byNumber = [];
    private readonly Dictionary<string, DynamicField> _byName = new(StringComparer.Ordinal);
    private readonly List<DynamicField> _fields = [];
    private readonly List<DynamicField> _implicit = [];

    public string Name { get; } = name;

    public IReadOnlyList<DynamicField> Fields => _fields;

    /// <summary>Those of the fields that are shown also if they did not come, in the same order.</summary>
    public IReadOnlyList<DynamicField> WithImplicitDefault => _implicit;

    public DynamicField? Find(int number) => _byNumber.GetValueOrDefault(number);

    /// <summary>Names are case-sensitive. Of two fields with one name, the first.</summary>
    public DynamicField? Find(string name) => _byName.GetValueOrDefault(name);

    public bool TryAdd(DynamicField field)
    {
        if (!_byNumber.TryAdd(field.Number, field))
        {
            return false;
        }

        _byName.TryAdd(field.Name, field);
        _fields.Add(field);
        if (field.HasImplicitDefault)
        {
            _implicit.Add(field);
        }

        return true;
    }
}

// A schema that came from elsewhere, made ready to read and write payloads whose type this process does not have. The schema is not
// trusted: what is not sound is refused here, so that readers and writers can rely on it. A message may contain itself.
internal sealed class DynamicSchema
{
    private const int MaxNumber = 536_870_911;

    private readonly DynamicMessage[] _messages;
    private readonly DynamicEnum[] _enums;

    /// <exception cref="PayloadFormatException">The schema is malformed.</exception>
    public DynamicSchema(PayloadSchema schema)
    {
        Kind = schema.Kind is PayloadSchema.BytesKind or PayloadSchema.StringKind or PayloadSchema.MessageKind
            ? schema.Kind
            : throw Malformed(schema, $"it has the unknown kind '{Clip(schema.Kind)}'");
        TypeName = schema.TypeName;
        if (schema.Nested.IsDefault || schema.Nested.Length > PayloadSchema.MaxNested)
        {
            throw Malformed(schema, $"it has more than {PayloadSchema.MaxNested} message types");
        }

        _messages =
        [
            new DynamicMessage(schema.TypeName),
            .. schema.Nested.Select(nested => new DynamicMessage(nested.Name)),
        ];
        _enums = schema.Enums.IsDefault || schema.Enums.Length > PayloadSchema.MaxEnums
            ? []
            : [.. schema.Enums.Select(static one => new DynamicEnum(one))];
        int left = PayloadSchema.MaxFields;
        for (int message = 0; message < _messages.Length; message++)
        {
            Fill(schema, message, message == 0 ? schema.Fields : schema.Nested[message - 1].Fields, ref left);
        }
    }

    /// <summary>One of the kinds of <see cref="PayloadSchema"/>.</summary>
    public string Kind { get; }

    public string TypeName { get; }

    /// <summary>The payload itself.</summary>
    public DynamicMessage Root => _messages[0];

    private void Fill(PayloadSchema schema, int message, ImmutableArray<PayloadField> fields, ref int left)
    {
        left -= fields.IsDefault ? 0 : fields.Length;
        if (fields.IsDefault || left < 0)
        {
            throw Malformed(schema, $"it has more than {PayloadSchema.MaxFields} fields");
        }

        foreach (var (field, index) in fields.OrderBy(static field => field.Number).Select(static (field, index) => (field, index)))
        {
            if (field.Number is < 1 or > MaxNumber)
            {
                throw Malformed(schema, $"it has a field numbered {field.Number}");
            }

            if (field.Message is { } held && (uint)held >= (uint)_messages.Length)
            {
                throw Malformed(schema, $"field {field.Number} refers to message {held} of {_messages.Length}");
            }

            // Of the data for display, what does not fit is as if it were not there.
            var of = field.Enum is { } one && (uint)one < (uint)_enums.Length ? _enums[one] : null;
            if (!_messages[message].TryAdd(new DynamicField(field, index, field.Message is { } at ? _messages[at] : null, of)))
            {
                throw Malformed(schema, $"two fields have the number {field.Number}");
            }
        }
    }

    private static PayloadFormatException Malformed(PayloadSchema schema, string what) =>
        new($"The schema of {Clip(schema.TypeName)} is malformed: {what}.");

    private static string Clip(string text) => text.Length > 96 ? text[..96] + "…" : text;
}
