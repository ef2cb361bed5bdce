using Microsoft.Extensions.Configuration;

namespace QuickSilver.Hosting.Configuration;

// Reads the options of a node from its section. The binder of configurations cannot convert addresses and networks and ignores them
// silently, ignores unknown names, so that a misspelled option would go unnoticed, and names one failure of several. So this reads each
// option by its key, and refuses what it does not know.
internal static class OptionsBinding
{
    /// <exception cref="QuickSilverOptionsException">The section is missing, or has an unknown key or a value that is none.</exception>
    public static void Bind(IConfiguration section, QuickSilverOptions options)
    {
        // A whole configuration, unlike a section, also contains keys that are not QuickSilver's.
        if (section is IConfigurationSection named)
        {
            if (!named.Exists())
            {
                throw new QuickSilverOptionsException(
                    [$"The configuration has no section '{named.Path}', from which the options of a node are read, or it is empty. Add it "
                     + "with at least one option, or call AddQuickSilver without a section for the default options."]);
            }

            ThrowIfAny(UnknownKeys.In(named));
        }

        var failures = new List<string>();
        foreach (var option in OptionKey.All)
        {
            if (option.IsList)
            {
                if (ReadList(section, option.Name) is { } list)
                {
                    option.Set(options, list);
                }

                continue;
            }

            string? fault = null;
            if (section[option.Name] is { } text && OptionValue.Read(option.Property.PropertyType, text, out fault) is { } value)
            {
                option.Set(options, value);
            }
            else if (fault is not null)
            {
                failures.Add(
                    $"The option {option.Name} is \"{section[option.Name]}\". Allowed: "
                    + $"{(fault.Length > 0 ? fault : OptionRules.Allowed(option))}.");
            }
        }

        ThrowIfAny(failures);
    }

    /// <inheritdoc cref="Bind(IConfiguration, QuickSilverOptions)"/>
    public static void Bind(IConfiguration section, QuickSilverHostingOptions options)
    {
        var failures = new List<string>();
        foreach (var (name, property) in ConfigurationKeys.OfHosting)
        {
            if (property.PropertyType == typeof(IReadOnlyList<string>))
            {
                if (section.GetSection(name).GetChildren().ToArray() is { Length: > 0 } tags)
                {
                    property.SetValue(options, tags.Select(static tag => tag.Value ?? "").ToArray());
                }
            }
            else if (Read(section, name, property.PropertyType, failures) is { } value)
            {
                property.SetValue(options, value);
            }
        }

        foreach (var topic in section.GetSection(ConfigurationKeys.Topics).GetChildren())
        {
            var values = options.Topics.TryGetValue(topic.Key, out var known) ? known : options.Topics[topic.Key] = [];
            foreach (var property in ConfigurationKeys.OfTopics.Select(static key => key.Property))
            {
                string name = $"{ConfigurationKeys.Topics}:{topic.Key}:{property.Name}";
                if (Read(section, name, property.PropertyType, failures) is { } value)
                {
                    values[property.Name] = value;
                }
            }
        }

        ThrowIfAny(failures);
    }

    // A variable or an argument is one text, so a list may be one, too. It stands for the whole list, whatever other sources have.
    private static List<string>? ReadList(IConfiguration section, string name)
    {
        var list = section.GetSection(name);
        return list.Value is { } text ? [.. text.Split(',', StringSplitOptions.TrimEntries)]
            : list.GetChildren().Select(static entry => entry.Value ?? "").ToList() is { Count: > 0 } entries ? entries
            : null;
    }

    private static object? Read(IConfiguration section, string name, Type type, List<string> failures)
    {
        string? fault = null;
        object? value = section[name] is { } text ? OptionValue.Read(type, text, out fault) : null;
        if (fault is not null)
        {
            failures.Add($"The option {name} is \"{section[name]}\". Allowed: {(fault.Length > 0 ? fault : OptionValue.Allowed(type))}.");
        }

        return value;
    }

    private static void ThrowIfAny(List<string> failures)
    {
        if (failures.Count > 0)
        {
            throw new QuickSilverOptionsException(failures);
        }
    }
}
