using System.Globalization;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Options;
using QuickSilver.Topics;
using QuickSilver.Topics.Declarations;

namespace QuickSilver.Hosting.Configuration;

// The rules for what the host does with a node, and for the options of topics in configuration.
internal sealed class HostingOptionsCheck(HostedNode node, IServiceProvider provider) : IValidateOptions<QuickSilverHostingOptions>
{
    private const int MostMembers = 100_000;
    private static readonly TimeSpan Longest = TimeSpan.FromDays(1);

    public ValidateOptionsResult Validate(string? name, QuickSilverHostingOptions options)
    {
        if (name != node.OptionsName)
        {
            return ValidateOptionsResult.Skip;
        }

        var failures = new List<string>();
        CheckTime(nameof(options.DrainLimit), options.DrainLimit ?? TimeSpan.Zero, failures);
        CheckTime(nameof(options.ConsumerLimit), options.ConsumerLimit, failures);
        if (options.ReadyWhenMembers is < 1 or > MostMembers)
        {
            Add(nameof(options.ReadyWhenMembers), Show(options.ReadyWhenMembers), $"1 to {Show(MostMembers)}", failures);
        }

        if (!Enum.IsDefined(options.WhenExpelled))
        {
            string allowed = string.Join(" or ", Enum.GetNames<ExpulsionResponse>());
            Add(nameof(options.WhenExpelled), Show((int)options.WhenExpelled), allowed, failures);
        }

        CheckTags(nameof(options.LiveTags), options.LiveTags, failures);
        CheckTags(nameof(options.ReadyTags), options.ReadyTags, failures);
        CheckTopics(options, failures);
        return Result(name, failures);
    }

    /// <summary>Failures name the node, if it has a key.</summary>
    public static ValidateOptionsResult Result(string? name, IReadOnlyList<string> failures) => failures.Count == 0
        ? ValidateOptionsResult.Success
        : ValidateOptionsResult.Fail(string.IsNullOrEmpty(name) ? failures : failures.Select(one => $"Node \"{name}\": {one}"));

    /// <summary>The options of a topic after those in configuration.</summary>
    public static TopicOptions OfTopic(string topic, TopicOptions options, QuickSilverHostingOptions hosting)
    {
        if (!hosting.Topics.TryGetValue(topic, out var values))
        {
            return options;
        }

        // Set on a copy, which is not shared yet.
        var changed = options.Copy();
        foreach (var key in ConfigurationKeys.OfTopics)
        {
            if (values.TryGetValue(key.Property.Name, out object? value))
            {
                key.Property.SetValue(changed, value);
            }
        }

        return changed;
    }

    private void CheckTopics(QuickSilverHostingOptions options, List<string> failures)
    {
        AddedTopic[] added = [.. provider.GetKeyedServices<AddedTopic>(node)];
        foreach (string topic in options.Topics.Keys)
        {
            string key = $"{ConfigurationKeys.Topics}:{topic}";
            if (TopicName.Fault(topic) is { } fault)
            {
                failures.Add($"The configuration has options for '{key}', which is no topic: {fault}");
                continue;
            }

            AddedTopic[] configured = [.. added.Where(one => one.Name.Equals(topic, StringComparison.OrdinalIgnoreCase))];
            failures.AddRange(configured
                .SelectMany(one => Failures(one, OfTopic(one.Name, one.Options, options)))
                .Distinct()
                .Select(failure => failure.Replace("The option ", $"The option {key}:", StringComparison.Ordinal)));
            if (configured.Length == 0)
            {
                string[] names = [.. added.Select(static one => one.Name).Distinct().Order(StringComparer.Ordinal)];
                string meant = NearestKey.Of(topic, names) is { } nearest ? $"Did you mean '{nearest}'? " : "";
                failures.Add(
                    $"The configuration has options for '{key}', but the host adds no topic with this name. {meant}"
                    + $"Topics of the host: {(names.Length == 0 ? "none" : string.Join(", ", names))}. Remove the key, or add the topic.");
            }
        }
    }

    private static IEnumerable<string> Failures(AddedTopic topic, TopicOptions options)
    {
        var failures = OptionRules.Failures(options);
        return topic.Declared is { } declared && DeclaredTopic.IsContradicted(declared, options)
            ? [.. failures, $"The option {nameof(options.Guarantee)} is {options.Guarantee}. Allowed: {declared.Guarantee}, which "
                + $"{topic.Payload} declares."]
            : failures;
    }

    private static void CheckTime(string option, TimeSpan time, List<string> failures)
    {
        if (time < TimeSpan.Zero || time > Longest)
        {
            Add(option, $"{time:c}", $"{TimeSpan.Zero:c} to {Longest:c}", failures);
        }
    }

    private static void CheckTags(string option, IReadOnlyList<string>? tags, List<string> failures)
    {
        if (tags is null || tags.Any(string.IsNullOrWhiteSpace))
        {
            Add(option, tags is null ? "null" : "a list with an empty tag", "a list of texts", failures);
        }
    }

    private static string Show(int number) => number.ToString("N0", CultureInfo.InvariantCulture);

    private static void Add(string option, string value, string allowed, List<string> failures) =>
        failures.Add($"The option {ConfigurationKeys.Hosting}:{option} is {value}. Allowed: {allowed}.");
}
