using System.Globalization;
using System.Net;
using System.Reflection;
using System.Text;
using System.Text.Json;
using System.Text.Json.Nodes;
using System.Text.RegularExpressions;
using System.Xml.Linq;
using QuickSilver.Hosting.Configuration;

namespace QuickSilver.Hosting.Tests.Configuration;

// The schema for editors and the page for readers, both written from the options and from their documentation.
internal static partial class ConfigurationReference
{
    private const string Section = "QuickSilver";
    private const int MostColumns = 140;
    private static readonly JsonSerializerOptions Indented = new()
    {
        WriteIndented = true,
        Encoder = System.Text.Encodings.Web.JavaScriptEncoder.UnsafeRelaxedJsonEscaping,
    };

    private static readonly Dictionary<string, string> Documentation = Read(typeof(QuickSilverOptions).Assembly)
        .Concat(Read(typeof(QuickSilverHostingOptions).Assembly))
        .DistinctBy(static one => one.Key)
        .ToDictionary();

    public static string Schema()
    {
        var node = Object("The options of a QuickSilver node.");
        node["additionalProperties"] = false;
        foreach (var (name, property) in ConfigurationKeys.All)
        {
            string[] parts = name.Split(':');
            var owner = node;
            for (int depth = 0; depth < parts.Length - 1; depth++)
            {
                owner = Child(owner, parts[..(depth + 1)]);
            }

            Properties(owner)[parts[^1]] = SchemaOf(property);
        }

        var root = new JsonObject { ["type"] = "object", ["properties"] = new JsonObject { [Section] = node } };
        return root.ToJsonString(Indented).ReplaceLineEndings("\n") + "\n";
    }

    public static string Page()
    {
        var page = new StringBuilder();
        Write(page, "# Configuration");
        Write(
            page,
            "A host that calls `AddQuickSilver` reads these keys from the section `QuickSilver` of its configuration, if there is one, or "
            + "from the section that it names in the call. Each is also a property in code. The section is read when the host starts. A "
            + "key that is not in this list and a value out of its range fail the start, with the nearest valid key or the valid values. "
            + "So does a section that the call names and that is missing. Times have the form `days.hh:mm:ss`. In an environment "
            + "variable, two underscores stand for a colon: `QuickSilver__Limits__BufferBytes`.");
        page.Append(
            """
            ```json
            {
              "QuickSilver": {
                "Cluster": "trading",
                "Interface": "10.0.0.0/8",
                "Limits": { "BufferBytes": 536870912 },
                "Hosting": { "DrainLimit": "00:00:05", "ReadyWhenMembers": 3 },
                "Topics": { "prices": { "SlowReader": "DropOldest", "ReaderCapacity": 100 } }
              }
            }
            ```


            """.ReplaceLineEndings("\n"));
        Write(
            page,
            "A host with several nodes has a section for each: `AddQuickSilver(\"lan2\", builder.Configuration.GetSection(\"Lan2\"))`. "
            + "Code that sets options after `AddQuickSilver` has read the section replaces what it read; options of topics in the section "
            + "replace those of the code. The package QuickSilver.Hosting has a JSON schema of these keys, from which editors complete "
            + "`appsettings.json`. This page and the schema are written from the options by a test.");
        Table(page, "The node", ConfigurationKeys.OfNode.Where(static key => !key.Name.Contains(':')));
        Table(
            page,
            "Membership",
            ConfigurationKeys.OfNode.Where(static key => IsIn(nameof(QuickSilverOptions.Membership), key.Name)),
            "Each server is an entry of the list: `Membership:Servers:0`, `Membership:Servers:1`. A variable or an argument may name all "
            + "in one text, with commas between: `QuickSilver__Membership__Servers=10.0.0.1:7400,10.0.0.2:7400`. If both are given, the "
            + "text applies. An empty list or text is refused, because a variable without a value would otherwise start another cluster: "
            + "leave the option out for embedded membership.");
        Table(page, "The membership service that the node may host", ConfigurationKeys.OfNode.Where(
            static key => IsIn(MembershipOptions.HostedKey, key.Name)));
        Table(page, "Limits", ConfigurationKeys.OfNode.Where(static key => IsIn(nameof(QuickSilverOptions.Limits), key.Name)));
        Table(page, "Security", ConfigurationKeys.OfNode.Where(static key => IsIn(nameof(QuickSilverOptions.Security), key.Name)));
        Table(page, "The host", ConfigurationKeys.OfHosting);
        Table(
            page,
            "Topics",
            ConfigurationKeys.OfTopics,
            "The star stands for the name of a topic that the host adds. The options apply to all endpoints of the topic in the host: "
            + "publishers, subscribers, handlers and consumers. A name with a colon cannot be written in configuration.");
        return page.ToString().TrimEnd('\n') + "\n";
    }

    // In the group itself, and in no group of it.
    private static bool IsIn(string group, string key) =>
        key.StartsWith($"{group}:", StringComparison.Ordinal) && !key[(group.Length + 1)..].Contains(':');

    private static void Table(StringBuilder page, string title, IEnumerable<ConfigurationKey> keys, string? about = null)
    {
        Write(page, $"## {title}");
        if (about is not null)
        {
            Write(page, about);
        }

        page.Append("| key | value | default | |\n|---|---|---|---|\n");
        foreach (var (name, property) in keys)
        {
            page.Append(CultureInfo.InvariantCulture, $"| `{name}` | {Kind(property)} | {Default(property)} | {Summary(property)} |\n");
        }

        page.Append('\n');
    }

    // Paragraphs are wrapped as people would.
    private static void Write(StringBuilder page, string paragraph)
    {
        int column = 0;
        foreach (string word in paragraph.Split(' '))
        {
            if (column > 0 && column + 1 + word.Length > MostColumns)
            {
                page.Append('\n');
                column = 0;
            }

            page.Append(column > 0 ? " " : "").Append(word);
            column += word.Length + (column > 0 ? 1 : 0);
        }

        page.Append("\n\n");
    }

    private static bool IsList(Type type) => type == typeof(IReadOnlyList<string>) || OptionKey.IsListType(type);

    private static Type TypeOf(PropertyInfo property) => Nullable.GetUnderlyingType(property.PropertyType) ?? property.PropertyType;

    private static string Kind(PropertyInfo property) => TypeOf(property) switch
    {
        var type when type == typeof(string) => "text",
        var type when type == typeof(bool) => "`true` or `false`",
        var type when type == typeof(TimeSpan) => "time",
        var type when type == typeof(NodeInterface) => "address, name, subnet or `auto`",
        var type when type == typeof(IPNetwork) => "network",
        var type when IsList(type) => "list of texts",
        { IsEnum: true } type => string.Join(", ", Enum.GetNames(type).Select(static name => $"`{name}`")),
        _ => "number",
    };

    private static object? DefaultValue(PropertyInfo property) =>
        property.GetValue(Activator.CreateInstance(property.DeclaringType!)) switch
        {
            Enum value => value.ToString(),
            TimeSpan time => time.ToString("c", CultureInfo.InvariantCulture),
            NodeInterface or IPNetwork => property.GetValue(Activator.CreateInstance(property.DeclaringType!))!.ToString(),
            var other => other,
        };

    private static string Default(PropertyInfo property) => DefaultValue(property) switch
    {
        null => "none",
        bool value => value ? "`true`" : "`false`",
        IEnumerable<string> list when !list.Any() => "none",
        IEnumerable<string> list => string.Join(", ", list.Select(static one => $"`{one}`")),
        int or long => $"{DefaultValue(property):N0}",
        var other => $"`{other}`",
    };

    private static JsonObject SchemaOf(PropertyInfo property)
    {
        var type = TypeOf(property);
        var schema = type switch
        {
            _ when type == typeof(bool) => new JsonObject { ["type"] = "boolean" },
            _ when type == typeof(int) || type == typeof(long) => new JsonObject { ["type"] = "integer" },
            _ when IsList(type) => new JsonObject
            {
                // What a variable may name in one text, a file may as well.
                ["type"] = OptionKey.IsListType(type) ? new JsonArray("array", "string") : "array",
                ["items"] = new JsonObject { ["type"] = "string" },
            },
            _ when type == typeof(TimeSpan) =>
                new JsonObject { ["type"] = "string", ["pattern"] = @"^(\d+\.)?\d{1,2}:\d{1,2}(:\d{1,2}(\.\d{1,7})?)?$" },
            { IsEnum: true } => new JsonObject { ["enum"] = new JsonArray([.. Enum.GetNames(type).Select(static name => (JsonNode)name)]) },
            _ => new JsonObject { ["type"] = "string" },
        };
        schema["description"] = Summary(property).Replace("`", "", StringComparison.Ordinal);
        if (DefaultValue(property) is { } value)
        {
            schema["default"] = JsonSerializer.SerializeToNode(value);
        }

        return schema;
    }

    private static JsonObject Object(string? description)
    {
        var schema = new JsonObject { ["type"] = "object" };
        if (description is not null)
        {
            schema["description"] = description;
        }

        return schema;
    }

    private static JsonObject Properties(JsonObject schema)
    {
        if (schema["properties"] is not JsonObject properties)
        {
            schema["properties"] = properties = [];
        }

        return properties;
    }

    private static JsonObject Child(JsonObject owner, string[] path)
    {
        string part = path[^1];
        if (part == ConfigurationKeys.AnyTopic)
        {
            if (owner["additionalProperties"] is not JsonObject topic)
            {
                owner["additionalProperties"] = topic = Object("The options of the topic with this name.");
                topic["additionalProperties"] = false;
            }

            return topic;
        }

        var properties = Properties(owner);
        if (properties[part] is not JsonObject child)
        {
            properties[part] = child = Object(part switch
            {
                ConfigurationKeys.Topics => "The options of topics, by the name of the topic.",
                ConfigurationKeys.Hosting => "How the node ends with the host, and its health checks.",
                _ => Summary(GroupOf(path)).Replace("`", "", StringComparison.Ordinal),
            });
            if (part != ConfigurationKeys.Topics)
            {
                child["additionalProperties"] = false;
            }
        }

        return child;
    }

    private static PropertyInfo GroupOf(string[] path) => path.Aggregate(
        (Owner: typeof(QuickSilverOptions), Group: (PropertyInfo?)null),
        static (found, part) => found.Owner.GetProperty(part) is { } group ? (group.PropertyType, group) : found).Group!;

    private static string Summary(PropertyInfo property) => Documentation[$"P:{property.DeclaringType!.FullName}.{property.Name}"];

    private static IEnumerable<KeyValuePair<string, string>> Read(Assembly assembly) =>
        XDocument.Load(Path.ChangeExtension(assembly.Location, ".xml")).Descendants("member")
            .Where(static member => member.Element("summary") is not null)
            .Select(static member => KeyValuePair.Create(member.Attribute("name")!.Value, Text(member.Element("summary")!)));

    // References become code: the last part of a property, and the type as well of a value or a constant.
    private static string Text(XElement summary)
    {
        var text = new StringBuilder();
        foreach (var one in summary.Nodes())
        {
            text.Append(one switch
            {
                XElement { Name.LocalName: "see" } see => $"`{Named(see.Attribute("cref")!.Value)}`",
                XElement { Name.LocalName: "c" } code => $"`{code.Value}`",
                XElement other => other.Value,
                _ => ((XText)one).Value,
            });
        }

        return Spaces().Replace(text.ToString(), " ").Trim();
    }

    private static string Named(string cref)
    {
        string[] parts = Arguments().Replace(cref[2..], "").Split('.');
        string last = Arity().Replace(parts[^1], "");
        return cref[0] switch
        {
            'F' when parts[^2] == nameof(QuickSilverServiceCollectionExtensions) => last == "LiveCheck"
                ? QuickSilverServiceCollectionExtensions.LiveCheck
                : QuickSilverServiceCollectionExtensions.ReadyCheck,
            'P' when parts[^2] == nameof(NodeLimits) => $"Limits:{last}",
            'P' when parts[^2] == nameof(EmbeddedServiceOptions) => $"{MembershipOptions.HostedKey}:{last}",
            'P' when parts[^2] == nameof(MembershipOptions) => $"{nameof(QuickSilverOptions.Membership)}:{last}",
            'P' when parts[^2] is nameof(NodeStatus) or nameof(NodeCounters) or nameof(MessageHeaders) => $"{parts[^2]}.{last}",
            _ => last,
        };
    }

    [GeneratedRegex(@"\s+")]
    private static partial Regex Spaces();

    [GeneratedRegex(@"\(.*\)$")]
    private static partial Regex Arguments();

    [GeneratedRegex("`+[0-9]+")]
    private static partial Regex Arity();
}
