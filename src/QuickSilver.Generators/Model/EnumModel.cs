namespace QuickSilver.Generators.Model;

// An enum as the schema describes it. Numbers of an underlying type of 64 bits without a sign are the same bits with one.
internal sealed record EnumModel(string Name, bool IsFlags, EquatableArray<EnumValueModel> Values);

internal sealed record EnumValueModel(string Name, long Number);
