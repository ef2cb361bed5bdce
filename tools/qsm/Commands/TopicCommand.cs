using System.CommandLine;
using System.CommandLine.Parsing;
using QuickSilver.Core.Diagnostics;
using QuickSilver.Membership.Contracts;
using QuickSilver.Membership.Protocol.Replies;
using QuickSilver.Serialization.Dynamic;
using QuickSilver.Tool.Catalog;
using QuickSilver.Tool.Catalog.Sources;
using QuickSilver.Tool.Sessions;

namespace QuickSilver.Tool.Commands;

// What a topic carries, for people, for scripts, or as the source text of a program that opens it.
internal static class TopicCommand
{
    public static Command Create() => new("topic", "Show one topic.") { Describe() };

    private static Command Describe()
    {
        var common = new CommonOptions();
        var topic = new Argument<string>("TOPIC") { Description = "The topic." };
        topic.CompleteWith(common, ClusterNames.Topics);
        topic.Validators.Add(Bounds.CheckTopics);
        var json = new Option<bool>("--json") { Description = "Print one JSON object, with all versions of the contract." };
        var csharp = new Option<bool>("--csharp")
        {
            Description = "Print the types and a typed opener in C#, ready to compile in a project with the package QuickSilver.",
        };
        var proto = new Option<bool>("--proto")
        {
            Description = "Print the types as a file of proto3, for programs in other languages.",
        };
        var version = new Option<int?>("--contract")
        {
            Description = "The version of the contract that --csharp and --proto print, by its number in the list without them. By "
                + "default, the one with the most fields.",
            HelpName = "N",
        }.Within(1, 1_000);
        var space = new Option<string?>("--namespace") { Description = "The namespace of the types in C#.", HelpName = "NAME" };
        space.Validators.Add(CheckNamespace);
        var command = common.AddToObserver(
            new Command("describe", "Show the contract of a topic: its type with all fields, its guarantee, and who has it open.")
            {
                topic, json, csharp, proto, version, space,
            });
        Bounds.Exclude(command, json, csharp);
        Bounds.Exclude(command, json, proto);
        Bounds.Exclude(command, csharp, proto);
        command.SetAction(parse => Session.RunAsync(parse, common, async session =>
        {
            var contracts = await ReadAsync(session, parse.GetValue(topic)!);
            if (parse.GetValue(json))
            {
                var names = await TopicCatalog.ReadNamesAsync(session);
                Console.Out.WriteLine(TopicDescriptionJson.Of(contracts, names).ToJson());
            }
            else if (parse.GetValue(csharp))
            {
                Console.Out.Write(TopicSource.CSharpOf(contracts, parse.GetValue(version), parse.GetValue(space)));
            }
            else if (parse.GetValue(proto))
            {
                Console.Out.Write(TopicSource.ProtoOf(contracts, parse.GetValue(version), parse.GetValue(space)));
            }
            else
            {
                Print(contracts, await TopicCatalog.ReadNamesAsync(session));
            }

            return ExitCode.Ok;
        }));
        return command;
    }

    private static async Task<TopicContracts> ReadAsync(Session session, string name)
    {
        var contracts = await TopicCatalog.ReadAsync(session, name);
        if (contracts.Versions.Count > 0)
        {
            return contracts;
        }

        var others = await TopicCatalog.ReadAllAsync(session, isVerbose: false);
        string hint = NearestName.Of(name, others.Select(static other => other.Name)) is { } near
            ? $" Did you mean '{SafeText.Of(near)}'?"
            : $" {Counted.Of(others.Count, "topic")} {(others.Count == 1 ? "is" : "are")} open: run 'qsm topics' to list them.";
        throw new ToolException(ExitCode.Failed, $"No node of cluster '{session.Options.Cluster}' has the topic '{name}' open.{hint}");
    }

    private static void Print(TopicContracts contracts, NodeNames names)
    {
        var first = contracts.Versions[0];
        string parameters = first.Contract.Parameters.ToString();
        Terminal.Table(
        [
            ("topic", SafeText.Of(contracts.Name)),
            ("guarantee", SafeText.Of(first.Contract.Guarantee)),
            .. parameters.Length == 0 ? Array.Empty<(string, string)>() : [("parameters", parameters)],
            ("publishers", $"{first.Publishers}"),
            ("subscribers", $"{first.Subscribers}"),
        ]);
        int at = 0;
        foreach (var version in contracts.Versions)
        {
            var contract = version.Contract;
            Console.Out.WriteLine();
            string kind = contract.Kind == ContractDescription.AnyKind ? "takes any payload" : contract.Kind;
            string place = contracts.Versions.Count == 1 ? "" : $"{++at}: ";
            Console.Out.WriteLine($"{place}{SafeText.Of(contract.TypeName)} ({SafeText.Of(kind)}), {Nodes(version, names)}");
            for (int message = 0; message <= contract.Nested.Length; message++)
            {
                if (message > 0)
                {
                    Console.Out.WriteLine($"{SafeText.Of(contract.NameOf(message))}");
                }

                foreach (var field in contract.FieldsOf(message))
                {
                    string type = SafeText.Of(TypeOf(contract, field));
                    Console.Out.WriteLine($"  {field.Number,3}  {SafeText.Of(field.Name),-20}  {type}");
                }
            }

            foreach (var one in contract.Enums)
            {
                Console.Out.WriteLine($"{SafeText.Of(one.Name)} ({(one.IsFlags ? "flags" : "enum")})");
                foreach (var (name, number) in one.Values)
                {
                    Console.Out.WriteLine($"  {number,3}  {SafeText.Of(name)}");
                }
            }
        }
    }

    // As it is on the wire, and what it is in .NET where that says more: "int32 (State?)".
    private static string TypeOf(ContractDescription contract, ContractField field)
    {
        string wire = field.Message is { } message
            ? field.Type.Replace("message", contract.NameOf(message), StringComparison.Ordinal)
            : field.Type;
        string? value = field.Enum is { } at ? contract.Enums[at].Name : field.LogicalType;
        string key = field.LogicalKeyType is { } keyType ? $"{keyType}, " : "";
        string nullable = field.IsNullable == true ? "?" : "";
        return value is not null || key.Length > 0 ? $"{wire} ({key}{value}{nullable})" : wire + nullable;
    }

    private static string Nodes(ListedTopicMessage version, NodeNames names)
    {
        string count = TopicSource.NodesOf(version);
        string more = version.Nodes > version.Holders.Length ? ", …" : "";
        return version.Holders.IsEmpty ? count : $"{count}: {string.Join(", ", version.Holders.Select(names.NameAndIdOf))}{more}";
    }

    private static void CheckNamespace(OptionResult result)
    {
        string? name = result.Tokens.Count > 0 ? result.Tokens[^1].Value : null;
        if (name is null || !name.Split('.').All(static part =>
            part.Length > 0 && !char.IsDigit(part[0]) && part.All(static c => c == '_' || char.IsLetterOrDigit(c))))
        {
            result.AddError($"--namespace: '{name}' is not a namespace, such as Demo.Contracts.");
        }
    }
}
