using System.Reflection;

namespace QuickSilver.ProtobufNet;

// What the attribute of a contract says of a type.
internal static class ContractAttributes
{
    private const string DataContract = "System.Runtime.Serialization.DataContractAttribute";
    private const string ProtoContract = "ProtoBuf.ProtoContractAttribute";

    /// <summary>Whether it has any of the attributes.</summary>
    public static bool IsContract(Type type) =>
        type.CustomAttributes.Any(static attribute => attribute.AttributeType.FullName is DataContract or ProtoContract);

    public static string? NameOf(Type type) =>
        type.CustomAttributes
            .Where(static attribute => attribute.AttributeType.FullName is DataContract or ProtoContract)
            .Select(static attribute => Name(attribute))
            .FirstOrDefault(static name => name is not null);

    private static string? Name(CustomAttributeData attribute) =>
        attribute.NamedArguments.FirstOrDefault(static argument => argument.MemberName == "Name").TypedValue.Value as string;
}
